package frontend

import (
	"go/ast"
	"go/token"
	"go/types"
)

// hazards finds out whether a call in a statement may change what stands before it and would be read by
// then. Each method takes whether something is pending, that is to be read before the expression, and returns
// whether the expression leaves something to be read.
type hazards struct {
	*orderer
	found bool
}

func (h *hazards) expr(e ast.Expr, pending bool) bool {
	if e == nil || h.info.Types[e].Value != nil || h.info.Types[e].IsType() {
		return false
	}
	switch e := e.(type) {
	case *ast.Ident:
		return h.effects.exposed[h.info.Uses[e]]
	case *ast.CallExpr:
		if h.info.Types[e.Fun].IsType() {
			return h.expr(e.Args[0], pending)
		}
		h.operands(e, pending)
		h.found = h.found || pending && h.effects.writes(e)
		return false
	case *ast.BinaryExpr:
		x := h.expr(e.X, pending)
		if e.Op == token.LAND || e.Op == token.LOR {
			h.expr(e.Y, pending)
			return false
		}
		return h.expr(e.Y, pending || x) || x
	case *ast.SliceExpr:
		h.all(pending, e.X, e.Low, e.High, e.Max)
		return false
	case *ast.StarExpr:
		h.expr(e.X, pending)
		return true
	case *ast.IndexExpr:
		x := h.all(pending, e.X, e.Index)
		_, array := h.info.TypeOf(e.X).Underlying().(*types.Array)
		return x || !array
	case *ast.SelectorExpr:
		x := h.expr(e.X, pending)
		return x || h.throughPointer(e)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return h.target(e.X, pending)
		}
		return h.expr(e.X, pending)
	case *ast.ParenExpr:
		return h.expr(e.X, pending)
	case *ast.CompositeLit:
		return h.all(pending, e.Elts...)
	case *ast.KeyValueExpr:
		return h.expr(e.Value, pending)
	}
	return false
}

// all is expr for several expressions, one after another.
func (h *hazards) all(pending bool, list ...ast.Expr) (any bool) {
	for _, e := range list {
		any = h.expr(e, pending || any) || any
	}
	return any
}

// operands looks at what a call needs.
func (h *hazards) operands(call *ast.CallExpr, pending bool) {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		pending = h.target(sel.X, pending) || pending
	}
	h.all(pending, call.Args...)
}

// target is expr for the target of an assignment, which is not read itself.
func (h *hazards) target(e ast.Expr, pending bool) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		if _, array := h.info.TypeOf(e.X).Underlying().(*types.Array); array {
			x := h.target(e.X, pending)
			return h.expr(e.Index, pending || x) || x
		}
		return h.all(pending, e.X, e.Index)
	case *ast.SelectorExpr:
		if h.throughPointer(e) {
			return h.expr(e.X, pending)
		}
		return h.target(e.X, pending)
	case *ast.StarExpr:
		return h.expr(e.X, pending)
	case *ast.Ident:
		return false
	default:
		return h.expr(e, pending)
	}
}

// throughPointer reports whether a field is selected of what a pointer points to.
func (o *orderer) throughPointer(e *ast.SelectorExpr) bool {
	s := o.info.Selections[e]
	return s != nil && s.Kind() == types.FieldVal && s.Indirect()
}

// hoist has all that the Go compiler evaluates first evaluated before the statement, and returns what is left of e.
func (o *orderer) hoist(e ast.Expr) ast.Expr {
	if e == nil || o.info.Types[e].Value != nil || o.info.Types[e].IsType() {
		return e
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		if o.info.Types[e.Fun].IsType() {
			e.Args[0] = o.hoist(e.Args[0])
			return e
		}
		o.hoistOperands(e)
		if t := o.info.TypeOf(e); t == nil || isTuple(t) {
			return e
		}
		return o.keep(e)
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return o.hoistLogic(e)
		}
		e.X, e.Y = o.hoist(e.X), o.hoist(e.Y)
	case *ast.SliceExpr:
		if _, array := o.info.TypeOf(e.X).Underlying().(*types.Array); array {
			o.hoistTarget(&e.X)
		} else {
			e.X = o.hoist(e.X)
		}
		e.Low, e.High, e.Max = o.hoist(e.Low), o.hoist(e.High), o.hoist(e.Max)
		return o.keep(e)
	case *ast.StarExpr:
		e.X = o.hoist(e.X)
	case *ast.IndexExpr:
		e.X, e.Index = o.hoist(e.X), o.hoist(e.Index)
	case *ast.SelectorExpr:
		if o.info.Selections[e] != nil {
			e.X = o.hoist(e.X)
		}
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			o.hoistTarget(&e.X)
			return e
		}
		e.X = o.hoist(e.X)
	case *ast.ParenExpr:
		e.X = o.hoist(e.X)
	case *ast.CompositeLit:
		for i := range e.Elts {
			e.Elts[i] = o.hoist(e.Elts[i])
		}
	case *ast.KeyValueExpr:
		e.Value = o.hoist(e.Value)
	}
	return e
}

func isTuple(t types.Type) bool { _, ok := t.(*types.Tuple); return ok }

// hoistLogic evaluates the right side of && or || where it is to be evaluated.
func (o *orderer) hoistLogic(e *ast.BinaryExpr) ast.Expr {
	e.X = o.hoist(e.X)
	before := o.out
	o.out = nil
	y := o.hoist(e.Y)
	right := o.out
	if o.out = before; len(right) == 0 {
		return o.keep(e)
	}
	def, use := o.temporary(e, o.info.TypeOf(e))
	test := ast.Expr(use)
	if e.Op == token.LOR {
		test = o.not(use)
	}
	target := &ast.Ident{NamePos: e.Pos(), Name: use.Name}
	o.info.Uses[target], o.info.Types[target] = o.info.Uses[use], o.info.Types[use]
	o.out = append(o.out,
		&ast.AssignStmt{Lhs: []ast.Expr{def}, TokPos: e.Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{e.X}},
		&ast.IfStmt{If: e.Pos(), Cond: test, Body: &ast.BlockStmt{List: append(right,
			&ast.AssignStmt{Lhs: []ast.Expr{target}, TokPos: e.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{y}})}})
	return use
}

// hoistOperands is hoist for what a call needs.
func (o *orderer) hoistOperands(call *ast.CallExpr) {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && o.info.Selections[sel] != nil {
		o.hoistTarget(&sel.X)
	}
	for i := range call.Args {
		call.Args[i] = o.hoist(call.Args[i])
	}
}

// hoistTarget is hoist for the target of an assignment, or what else is not read.
func (o *orderer) hoistTarget(at *ast.Expr) {
	switch e := (*at).(type) {
	case *ast.Ident:
	case *ast.ParenExpr:
		o.hoistTarget(&e.X)
	case *ast.IndexExpr:
		if _, array := o.info.TypeOf(e.X).Underlying().(*types.Array); array {
			o.hoistTarget(&e.X)
		} else {
			e.X = o.hoist(e.X)
		}
		e.Index = o.hoist(e.Index)
	case *ast.SelectorExpr:
		switch {
		case o.info.Selections[e] == nil: // of a package
		case o.throughPointer(e):
			e.X = o.hoist(e.X)
		default:
			o.hoistTarget(&e.X)
		}
	case *ast.StarExpr:
		e.X = o.hoist(e.X)
	default:
		*at = o.hoist(e)
	}
}
