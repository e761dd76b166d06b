package frontend

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// Reorder rewrites the bodies of a package's functions such that go/ssa evaluates their expressions in the order in which
// the Go compiler does. The specification does not define whether x + f() reads the variable or calls the function first.
// go/ssa follows the order of the source (golang/go#77938). The Go compiler makes the calls first:
// cmd/compile/internal/walk/order.go moves calls, and len, min, slice expressions and a few more, into temporaries before
// the statement, and reads variables, elements and fields in the statement itself. If that makes a difference, because a
// call may write an operand to its left, Reorder rewrites the syntax tree in the same way and adds the new nodes to info.
// It also marks the loops that have //gpu:unroll directives; files without their comments have none.
func Reorder(fset *token.FileSet, pkg *types.Package, files []*ast.File, info *types.Info) {
	o := &orderer{pkg: pkg, info: info, effects: newEffects(files, info)}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				o.block(n.Body)
			case *ast.FuncLit:
				o.block(n.Body)
			}
			return true
		})
		o.markLoops(fset, f)
	}
}

type orderer struct {
	pkg     *types.Package
	info    *types.Info
	effects *effects
	out     []ast.Stmt // what must stand before the statement
	temps   int
}

func (o *orderer) block(b *ast.BlockStmt) {
	if b != nil {
		b.List = o.list(b.List)
	}
}

func (o *orderer) list(stmts []ast.Stmt) []ast.Stmt {
	var all []ast.Stmt
	for _, s := range stmts {
		all = append(all, o.stmt(s)...)
	}
	return all
}

// one is stmt for where one statement must stand.
func (o *orderer) one(s ast.Stmt) ast.Stmt {
	if s == nil {
		return nil
	}
	all := o.stmt(s)
	if len(all) == 1 {
		return all[0]
	}
	return &ast.BlockStmt{Lbrace: s.Pos(), List: all, Rbrace: s.End()}
}

// stmt returns what stands for s. A variable may lose its scope: go/ssa looks at objects, not at names.
func (o *orderer) stmt(s ast.Stmt) []ast.Stmt {
	saved := o.out
	o.out = nil
	switch s := s.(type) {
	case *ast.BlockStmt:
		o.block(s)
	case *ast.LabeledStmt:
		all := o.stmt(s.Stmt)
		last := len(all) - 1
		s.Stmt = all[last]
		if !breaks(s.Stmt) && last > 0 { // a goto wants all of it
			s.Stmt, last = &ast.BlockStmt{Lbrace: s.Pos(), List: all, Rbrace: s.End()}, 0
		}
		o.out = all[:last]
	case *ast.IfStmt:
		o.head(&s.Init, &s.Cond)
		o.block(s.Body)
		s.Else = o.one(s.Else)
	case *ast.SwitchStmt:
		o.head(&s.Init, &s.Tag)
		o.block(s.Body)
	case *ast.TypeSwitchStmt:
		o.block(s.Body)
	case *ast.SelectStmt:
		o.block(s.Body)
	case *ast.CaseClause:
		s.Body = o.list(s.Body)
	case *ast.CommClause:
		s.Body = o.list(s.Body)
	case *ast.ForStmt:
		o.loop(s)
	case *ast.RangeStmt:
		o.countOnly(s)
		o.exprs(nil, []*ast.Expr{&s.X})
		o.block(s.Body)
	default:
		o.simple(s)
	}
	all := append(slices.Clip(o.out), s)
	o.out = saved
	return all
}

// countOnly replaces the operand of a range statement by a number where Go takes its length only and go/ssa evaluates it: a
// dereference or an index in it must not fault.
func (o *orderer) countOnly(s *ast.RangeStmt) {
	array := arrayOf(o.info.TypeOf(s.X))
	if s.Value != nil || array == nil || o.plain(s.X) || o.callsIn(s.X) {
		return
	}
	n := &ast.BasicLit{ValuePos: s.X.Pos(), Kind: token.INT, Value: strconv.FormatInt(array.Len(), 10)}
	o.info.Types[n] = types.TypeAndValue{Type: types.Typ[types.Int], Value: constant.MakeInt64(array.Len())}
	s.X = n
}

// arrayOf returns the type t, or what t points to, where that is an array.
func arrayOf(t types.Type) *types.Array {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	a, _ := t.Underlying().(*types.Array)
	return a
}

// plain reports whether e is a variable or a field of one.
func (o *orderer) plain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.ParenExpr:
		return o.plain(e.X)
	case *ast.SelectorExpr:
		return !o.throughPointer(e) && o.plain(e.X)
	}
	return false
}

// callsIn reports whether the evaluation of e calls a function or receives from a channel.
func (o *orderer) callsIn(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = found || o.info.Types[n].Value == nil && !o.info.Types[n.Fun].IsType()
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

func breaks(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return true
	}
	return false
}

// head orders what stands before the body of an if or a switch.
func (o *orderer) head(init *ast.Stmt, e *ast.Expr) {
	if *init != nil {
		all := o.stmt(*init)
		*init = all[len(all)-1]
		o.out = append(o.out, all[:len(all)-1]...)
	}
	before := o.out
	o.out = nil
	if o.exprs(nil, []*ast.Expr{e}); len(o.out) > 0 && *init != nil {
		before, *init = append(before, *init), nil
	}
	o.out = append(before, o.out...)
}

// loop orders a for statement. A condition that needs more than an expression moves into the body.
func (o *orderer) loop(s *ast.ForStmt) {
	if s.Init != nil {
		all := o.stmt(s.Init)
		s.Init = all[len(all)-1]
		o.out = append(o.out, all[:len(all)-1]...)
	}
	s.Post = o.one(s.Post)
	o.block(s.Body)
	before := o.out
	o.out = nil
	if o.exprs(nil, []*ast.Expr{&s.Cond}); len(o.out) > 0 {
		leave := &ast.IfStmt{If: s.Cond.Pos(), Cond: o.not(s.Cond), Body: &ast.BlockStmt{List: []ast.Stmt{&ast.BranchStmt{TokPos: s.Cond.Pos(), Tok: token.BREAK}}}}
		s.Body.List = append(append(o.out, leave), s.Body.List...)
		s.Cond = nil
	}
	o.out = before
}

func (o *orderer) not(e ast.Expr) ast.Expr {
	n := &ast.UnaryExpr{OpPos: e.Pos(), Op: token.NOT, X: e}
	o.info.Types[n] = o.info.Types[e]
	return n
}

// simple orders a statement without statements in it.
func (o *orderer) simple(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		o.assign(s)
	case *ast.ExprStmt:
		o.callIn(s.X)
	case *ast.DeferStmt:
		o.callIn(s.Call)
	case *ast.ReturnStmt:
		o.exprs(nil, places(s.Results))
	case *ast.IncDecStmt:
		o.exprs([]*ast.Expr{&s.X}, nil)
	case *ast.DeclStmt:
		d, ok := s.Decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR || len(d.Specs) != 1 {
			return
		}
		o.exprs(nil, places(d.Specs[0].(*ast.ValueSpec).Values))
	}
}

func places(list []ast.Expr) []*ast.Expr {
	var all []*ast.Expr
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}

// callIn orders the operands of a call that is a statement.
func (o *orderer) callIn(e ast.Expr) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return
	}
	h := &hazards{orderer: o}
	if h.operands(call, false); h.found {
		o.hoistOperands(call)
	}
}

// assign orders an assignment. Where it has an operator its target is read, too.
func (o *orderer) assign(s *ast.AssignStmt) {
	left, right := places(s.Lhs), places(s.Rhs)
	if s.Tok == token.DEFINE {
		left = nil
	}
	h := &hazards{orderer: o}
	pending := false
	for _, e := range left {
		pending = h.target(*e, pending) || pending
	}
	if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
		pending = h.expr(s.Lhs[0], pending) || pending
	}
	for _, e := range right {
		pending = h.expr(*e, pending) || pending
	}
	if !h.found {
		return
	}
	for _, e := range left {
		o.hoistTarget(e)
	}
	if call, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr); ok && len(s.Lhs) > len(s.Rhs) {
		o.hoistOperands(call)
		s.Rhs = o.tuple(call, len(s.Lhs))
		return
	}
	for _, e := range right {
		*e = o.hoist(*e)
	}
}

// tuple puts the results of a call into temporaries.
func (o *orderer) tuple(call *ast.CallExpr, n int) []ast.Expr {
	results, ok := o.info.TypeOf(call).(*types.Tuple)
	if !ok || results.Len() != n {
		return []ast.Expr{call}
	}
	s := &ast.AssignStmt{TokPos: call.Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{call}}
	var uses []ast.Expr
	for i := range n {
		def, use := o.temporary(call, results.At(i).Type())
		s.Lhs, uses = append(s.Lhs, def), append(uses, use)
	}
	o.out = append(o.out, s)
	return uses
}

// exprs orders targets, which are not read, and expressions.
func (o *orderer) exprs(targets, list []*ast.Expr) {
	h := &hazards{orderer: o}
	pending := false
	for _, e := range targets {
		pending = h.target(*e, pending) || pending
	}
	for _, e := range list {
		pending = h.expr(*e, pending) || pending
	}
	if !h.found {
		return
	}
	for _, e := range targets {
		o.hoistTarget(e)
	}
	for _, e := range list {
		*e = o.hoist(*e)
	}
}

// temporary makes a variable for the value of e.
func (o *orderer) temporary(e ast.Expr, t types.Type) (def, use *ast.Ident) {
	o.temps++
	v := types.NewVar(e.Pos(), o.pkg, "order"+strconv.Itoa(o.temps), types.Default(t))
	def, use = &ast.Ident{NamePos: e.Pos(), Name: v.Name()}, &ast.Ident{NamePos: e.Pos(), Name: v.Name()}
	o.info.Defs[def], o.info.Uses[use] = v, v
	tv := o.info.Types[e]
	if !isTuple(tv.Type) { // go/ssa takes && of an untyped type in conditions only
		tv.Type = v.Type()
		o.info.Types[e] = tv
	}
	tv.Type = v.Type()
	o.info.Types[use] = tv
	return def, use
}

// keep evaluates e before the statement and returns what stands for it.
func (o *orderer) keep(e ast.Expr) ast.Expr {
	def, use := o.temporary(e, o.info.TypeOf(e))
	o.out = append(o.out, &ast.AssignStmt{Lhs: []ast.Expr{def}, TokPos: e.Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{e}})
	return use
}
