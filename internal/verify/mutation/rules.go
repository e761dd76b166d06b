package mutation

import (
	"go/ast"
	"go/token"
	"go/types"
)

// rules are all rules, in the order in which mutations at one place are listed.
var rules = []struct {
	name  string // in Mutation.Rule
	apply func(v *visitor, n ast.Node)
}{
	{"comparison", (*visitor).comparison}, // < becomes <=, == becomes !=
	{"arithmetic", (*visitor).arithmetic}, // + becomes -, << becomes >>
	{"logic", (*visitor).logic},           // && becomes ||
	{"condition", (*visitor).condition},   // of an if: negated, always true, always false
	{"constant", (*visitor).constant},     // an integer literal becomes one more or one less
	{"drop", (*visitor).drop},             // a call without result, an assignment to a field or element, an append
	{"jump", (*visitor).jump},             // a continue, break or early return is dropped
	{"swap", (*visitor).swap},             // two adjacent arguments of one type change places
}

// neighbours maps each order to the one that differs from it only for equal operands.
var neighbours = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
}

// swapped maps arithmetic operators, and the statements and assignments that use them, to others.
var swapped = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.OR: token.AND, token.XOR: token.OR, token.AND_NOT: token.AND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN,
	token.QUO_ASSIGN: token.MUL_ASSIGN, token.REM_ASSIGN: token.MUL_ASSIGN, token.SHL_ASSIGN: token.SHR_ASSIGN,
	token.SHR_ASSIGN: token.SHL_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN,
	token.XOR_ASSIGN: token.OR_ASSIGN, token.AND_NOT_ASSIGN: token.AND_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

// connectives maps each logical operator to the other.
var connectives = map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND}

func (v *visitor) comparison(n ast.Node) { v.binary(n, neighbours) }

func (v *visitor) logic(n ast.Node) { v.binary(n, connectives) }

// binary replaces the operator of a binary expression by the table's.
func (v *visitor) binary(n ast.Node, table map[token.Token]token.Token) {
	if b, ok := n.(*ast.BinaryExpr); ok {
		v.operator(b.OpPos, b.Op, table)
	}
}

func (v *visitor) arithmetic(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if v.numeric(n.X) {
			v.binary(n, swapped)
		}
	case *ast.AssignStmt:
		if v.numeric(n.Lhs[0]) {
			v.operator(n.TokPos, n.Tok, swapped)
		}
	case *ast.IncDecStmt:
		v.operator(n.TokPos, n.Tok, swapped)
	}
}

func (v *visitor) operator(at token.Pos, op token.Token, table map[token.Token]token.Token) {
	if other, ok := table[op]; ok {
		v.add(v.replace(at, at+token.Pos(len(op.String())), other.String()))
	}
}

// numeric reports whether an expression is a number.
func (v *visitor) numeric(x ast.Expr) bool {
	t := v.info.TypeOf(x)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// condition evaluates the condition of an if and then ignores it, so that all its variables are still used.
func (v *visitor) condition(n ast.Node) {
	s, ok := n.(*ast.IfStmt)
	if !ok {
		return
	}
	cond := v.text(s.Cond)
	for _, text := range []string{"!(" + cond + ")", "(" + cond + ") || true", "(" + cond + ") && false"} {
		v.add(v.replace(s.Cond.Pos(), s.Cond.End(), text))
	}
}

// constant changes the literals in bounds, offsets, arguments and results.
func (v *visitor) constant(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		v.literals(n.X, n.Y)
	case *ast.IndexExpr:
		v.literals(n.Index)
	case *ast.SliceExpr:
		v.literals(n.Low, n.High, n.Max)
	case *ast.CallExpr:
		v.literals(n.Args...)
	case *ast.ReturnStmt:
		v.literals(n.Results...)
	case *ast.AssignStmt:
		v.literals(n.Rhs...)
	}
}

func (v *visitor) literals(list ...ast.Expr) {
	for _, x := range list {
		l, ok := x.(*ast.BasicLit)
		if !ok || l.Kind != token.INT {
			continue
		}
		v.add(v.replace(l.Pos(), l.End(), "("+l.Value+" + 1)"))
		if l.Value != "0" {
			v.add(v.replace(l.Pos(), l.End(), "("+l.Value+" - 1)"))
		}
	}
}

// drop removes statements that matter only by what they change.
func (v *visitor) drop(n ast.Node) {
	switch s := n.(type) {
	case *ast.ExprStmt:
		if _, ok := s.X.(*ast.CallExpr); ok && !v.panics(s) {
			v.add(v.replace(s.Pos(), s.End(), ""))
		}
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE && (v.appends(s) || stores(s)) {
			v.add(v.replace(s.Pos(), s.End(), ""))
		}
	}
}

// stores reports whether an assignment changes only fields, elements and what pointers point to.
func stores(s *ast.AssignStmt) bool {
	for _, x := range s.Lhs {
		switch x.(type) {
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		default:
			return false
		}
	}
	return true
}

// appends reports whether the right side of an assignment is a call of append.
func (v *visitor) appends(s *ast.AssignStmt) bool {
	call, ok := s.Rhs[0].(*ast.CallExpr)
	return ok && v.builtin(call, "append")
}

// builtin reports whether a call is one of the named builtin function.
func (v *visitor) builtin(call *ast.CallExpr, name string) bool {
	id, ok := call.Fun.(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = v.info.Uses[id].(*types.Builtin)
	return ok
}

func (v *visitor) jump(n ast.Node) {
	switch s := n.(type) {
	case *ast.BranchStmt:
		if s.Tok == token.CONTINUE || s.Tok == token.BREAK {
			v.add(v.replace(s.Pos(), s.End(), ""))
		}
	case *ast.ReturnStmt:
		if s != v.last {
			v.add(v.replace(s.Pos(), s.End(), ""))
		}
	}
}

// swap exchanges arguments. The texts differ, or the mutant would not.
func (v *visitor) swap(n ast.Node) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return
	}
	for i := 1; i < len(call.Args); i++ {
		a, b := call.Args[i-1], call.Args[i]
		ta, tb := v.info.TypeOf(a), v.info.TypeOf(b)
		if ta == nil || tb == nil || !types.Identical(ta, tb) || v.text(a) == v.text(b) || call.Ellipsis.IsValid() && i == len(call.Args)-1 {
			continue
		}
		v.add(v.replace(a.Pos(), a.End(), v.text(b)), v.replace(b.Pos(), b.End(), v.text(a)))
	}
}
