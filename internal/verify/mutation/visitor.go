package mutation

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A visitor applies the rules to one file.
type visitor struct {
	name   string // of the file, in Mutation.File
	source string
	file   *token.File
	info   *types.Info

	fn   string   // Mutation.Func
	last ast.Stmt // the last statement of the function's body
	rule string   // Mutation.Rule
	list []*Mutation
}

// visit lists the mutations of all declarations.
func (v *visitor) visit(f *ast.File) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				v.fn, v.last = funcName(d), nil
				if n := len(d.Body.List); n > 0 {
					v.last = d.Body.List[n-1]
				}
				v.inspect(d.Body)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
					v.fn, v.last = s.Names[0].Name, nil
					v.inspect(s)
				}
			}
		}
	}
}

// inspect applies all rules to a node and what is in it, except assertions.
func (v *visitor) inspect(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil || v.assertion(n) {
			return false
		}
		for _, r := range rules {
			v.rule = r.name
			r.apply(v, n)
		}
		return true
	})
}

// assertion reports whether n is a panic, or an if that does nothing else.
func (v *visitor) assertion(n ast.Node) bool {
	if s, ok := n.(*ast.IfStmt); ok {
		return s.Else == nil && len(s.Body.List) == 1 && v.panics(s.Body.List[0])
	}
	s, ok := n.(ast.Stmt)
	return ok && v.panics(s)
}

// panics reports whether a statement is a call of panic.
func (v *visitor) panics(s ast.Stmt) bool {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := x.X.(*ast.CallExpr)
	return ok && v.builtin(call, "panic")
}

// add lists a mutation.
func (v *visitor) add(edits ...edit) {
	before, after := describe(v.source, edits)
	line := v.file.Line(v.file.Pos(edits[0].from))
	v.list = append(v.list, &Mutation{File: v.name, Line: line, Func: v.fn, Rule: v.rule, Before: before, After: after, edits: edits})
}

// replace returns the edit of a range of positions.
func (v *visitor) replace(from, to token.Pos, text string) edit {
	return edit{v.file.Offset(from), v.file.Offset(to), text}
}

// text returns the source of a node.
func (v *visitor) text(n ast.Node) string {
	return v.source[v.file.Offset(n.Pos()):v.file.Offset(n.End())]
}

// funcName returns "f", or "T.f" for a method.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	switch generic := t.(type) {
	case *ast.IndexExpr:
		t = generic.X
	case *ast.IndexListExpr:
		t = generic.X
	}
	return t.(*ast.Ident).Name + "." + d.Name.Name
}
