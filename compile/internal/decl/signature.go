package decl

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// fields returns the parameters after the thread.
func (s *scanner) fields(d *declared) []Field {
	used := map[string]bool{}
	for _, name := range typeParams(d.fn) {
		used[name] = true
	}
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
	base = Free(base, func(name string) bool { return used[name] })
	used[base] = true
	return base
}

// Free returns base, or base with underscores, such that it is not taken.
func Free(base string, taken func(name string) bool) string {
	for taken(base) {
		base += "_"
	}
	return base
}

func (s *scanner) field(d *declared, f *ast.Field) Field {
	field := s.typed(typeDecl{file: d.file, text: d.text, expr: f.Type}, typeParams(d.fn))
	field.Names, field.Pos = []string{"_"}, s.fset.Position(f.Type.Pos())
	if len(f.Names) > 0 {
		field.Names = nil
	}
	for _, name := range f.Names {
		field.Names = append(field.Names, name.Name)
	}
	return field
}

func (s *scanner) offset(p token.Pos) int { return s.fset.File(p).Offset(p) }

// uses returns the names in a type that depend on where it stands: those of packages, of the
// package's own declarations, and of type parameters.
func (s *scanner) uses(file *ast.File, e ast.Expr, params []string) []Use {
	var found []Use
	start := e.Pos()
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // of a struct: its name is none of those
			found = append(found, s.fieldUses(file, n, start, params)...)
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if path := s.importedAnyhow(file, x.Name); path != "" {
					found = append(found, Use{Offset: int(x.Pos() - start), Name: x.Name, Path: path})
				}
			}
			return false
		case *ast.Ident:
			offset := int(n.Pos() - start)
			if param := slices.Contains(params, n.Name); param || s.Declared[n.Name] {
				found = append(found, Use{Offset: offset, Name: n.Name, Param: param})
			} else if path := s.dotImported(file, n.Name); path != "" {
				found = append(found, Use{Offset: offset, Path: path})
			}
		}
		return true
	})
	return found
}

func (s *scanner) fieldUses(file *ast.File, f *ast.Field, start token.Pos, params []string) []Use {
	found := s.uses(file, f.Type, params)
	for i := range found {
		found[i].Offset += int(f.Type.Pos() - start)
	}
	return found
}

func typeParams(fn *ast.FuncDecl) []string {
	if fn.Type.TypeParams == nil {
		return nil
	}
	var names []string
	for _, f := range fn.Type.TypeParams.List {
		for _, name := range f.Names {
			names = append(names, name.Name)
		}
	}
	return names
}
