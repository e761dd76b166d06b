package decl

import (
	"fmt"
	"go/ast"
)

// fields returns the parameters behind the thread.
func (s *scanner) fields(d *declared) []Field {
	used := map[string]bool{}
	for _, f := range d.fn.Type.Params.List {
		for _, name := range f.Names {
			used[name.Name] = true
		}
	}
	var fields []Field
	n := 0
	for _, f := range d.fn.Type.Params.List[1:] {
		field := s.field(d, f)
		for i, name := range field.Names {
			n++
			if name == "_" {
				field.Names[i] = Fresh(fmt.Sprintf("p%d", n), used)
			}
		}
		fields = append(fields, field)
	}
	return fields
}

// Fresh returns base, or base with underscores, such that it is not in used, and adds it.
func Fresh(base string, used map[string]bool) string {
	for used[base] {
		base += "_"
	}
	used[base] = true
	return base
}

func (s *scanner) field(d *declared, f *ast.Field) Field {
	field := Field{Names: []string{"_"}, Pos: s.fset.Position(f.Type.Pos())}
	if len(f.Names) > 0 {
		field.Names = nil
	}
	for _, name := range f.Names {
		field.Names = append(field.Names, name.Name)
	}
	e := f.Type
	if a, ok := e.(*ast.ArrayType); ok && a.Len == nil {
		field.Slice, e = true, a.Elt
	}
	file := s.fset.File(e.Pos())
	start := file.Offset(e.Pos())
	field.Type = string(d.text[start:file.Offset(e.End())])
	ast.Inspect(e, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok {
			if path := s.imported(d.file, x.Name); path != "" {
				field.Imports = append(field.Imports, Use{file.Offset(x.Pos()) - start, x.Name, path})
			}
		}
		return false
	})
	return field
}
