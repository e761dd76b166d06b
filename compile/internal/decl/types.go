package decl

import (
	"go/ast"
	"slices"
)

// typeDecl is a type as a file of the package writes it.
type typeDecl struct {
	file  *ast.File
	text  []byte
	expr  ast.Expr
	alias bool // type T = expr
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
		if name, under, ok := s.underlying(x, params); ok {
			a, array := under.expr.(*ast.ArrayType)
			i, index := under.expr.(*ast.IndexExpr)
			if array && a.Len == nil || index && under.alias && s.isGPU(under.file, i.X, "TensorMap") {
				return s.typed(under, nil)
			}
			field.Struct = s.structOf(name, under)
		}
	}
	start, end := s.offset(e.Pos()), s.offset(e.End())
	field.Type = Text{string(t.text[start:end]), s.uses(t.file, e, params)}
	return field
}

// underlying returns the type that the package declares for an identifier, or for an identifier that stands for it, and the name of
// the type without aliases.
func (s *scanner) underlying(x *ast.Ident, params []string) (name string, t typeDecl, ok bool) {
	if slices.Contains(params, x.Name) {
		return "", t, false
	}
	name, aliases := x.Name, true
	for range s.types { // a declaration that refers to itself is an error of Go
		if t, ok = s.types[x.Name]; !ok {
			return "", t, false
		}
		aliases = aliases && t.alias
		if x, ok = t.expr.(*ast.Ident); !ok {
			t.alias = aliases
			return name, t, true
		}
		if aliases {
			name = x.Name
		}
	}
	return "", t, false
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
	has := false
	for _, f := range x.Fields.List {
		field := s.typed(typeDecl{file: t.file, text: t.text, expr: f.Type}, nil)
		field.Names, field.Pos = fieldNames(f), s.fset.Position(f.Type.Pos())
		has = has || field.Slice || field.Struct != nil
		st.Fields = append(st.Fields, field)
	}
	if !has {
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
