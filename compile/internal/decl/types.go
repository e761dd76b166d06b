package decl

import "go/ast"

// typeDecl is a type as a file of the package writes it.
type typeDecl struct {
	file *ast.File
	text []byte
	expr ast.Expr
}

// typed returns a field of type t, without names. It looks into the slices and structs that the package declares; types of
// other packages are not known from their syntax.
func (s *scanner) typed(t typeDecl, params []string) Field {
	var field Field
	e := t.expr
	switch x := e.(type) {
	case *ast.ArrayType:
		if x.Len == nil {
			field.Slice, e = true, x.Elt
		}
	case *ast.IndexExpr:
		if s.isGPU(t.file, x.X, "TensorMap") {
			field.Tensor, e = true, x.Index
		}
	case *ast.Ident:
		if under, ok := s.underlying(x, params); ok {
			if a, ok := under.expr.(*ast.ArrayType); ok && a.Len == nil {
				return s.typed(under, nil)
			}
			field.Struct = s.structOf(x.Name, under)
		}
	}
	start, end := s.offset(e.Pos()), s.offset(e.End())
	field.Type = Text{string(t.text[start:end]), s.uses(t.file, e, params)}
	return field
}

// underlying returns the type that the package declares for a name, or for a name that stands for it.
func (s *scanner) underlying(name *ast.Ident, params []string) (typeDecl, bool) {
	for _, p := range params {
		if p == name.Name {
			return typeDecl{}, false
		}
	}
	for range s.types { // a declaration that refers to itself is an error of Go
		t, ok := s.types[name.Name]
		if !ok {
			return t, false
		}
		next, ok := t.expr.(*ast.Ident)
		if !ok {
			return t, true
		}
		name = next
	}
	return typeDecl{}, false
}

// structOf returns the struct with a name and an underlying type; nil if it has no slices.
func (s *scanner) structOf(name string, t typeDecl) *Struct {
	if known, ok := s.structs[name]; ok {
		return known
	}
	s.structs[name] = nil // also for a struct with itself in its fields
	x, ok := t.expr.(*ast.StructType)
	if !ok {
		return nil
	}
	st := &Struct{Name: name}
	slices := false
	for _, f := range x.Fields.List {
		field := s.typed(typeDecl{t.file, t.text, f.Type}, nil)
		field.Names, field.Pos = fieldNames(f), s.fset.Position(f.Type.Pos())
		slices = slices || field.Slice || field.Struct != nil
		st.Fields = append(st.Fields, field)
	}
	if !slices {
		return nil
	}
	st.Arg = Fresh(name+"Arg", s.Declared)
	s.structs[name] = st
	return st
}

// fieldNames returns the names of a struct's fields. That of an embedded one is its type's.
func fieldNames(f *ast.Field) []string {
	var names []string
	for _, name := range f.Names {
		names = append(names, name.Name)
	}
	if names != nil {
		return names
	}
	switch t := f.Type.(type) {
	case *ast.Ident:
		return []string{t.Name}
	case *ast.SelectorExpr:
		return []string{t.Sel.Name}
	}
	return []string{"_"} // no type of a parameter
}
