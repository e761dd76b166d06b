package frontend

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A defer statement outside of loops is executed at most once in a call of its function. So the
// deferred calls are known: each is lowered wherever the function ends, after a test of
// a variable where it is not certain that the statement was reached. A fault ends the thread without them.

// deferred is a defer statement.
type deferred struct {
	in    *ssa.Defer
	flag  *ir.Value               // address of what says that it was executed; nil if that is always certain
	saved map[ssa.Value]*ir.Value // addresses of copies of what the call uses, where there is a flag
}

// findDefers finds the defer statements of the function in the order in which they are executed, and
// clears their flags.
func (l *lowerer) findDefers() {
	for _, b := range executionOrder(l.fn) {
		for _, in := range b.Instrs {
			if d, ok := in.(*ssa.Defer); ok && l.live[b] && !l.loops[b] && !isRangeBody(l.fn) {
				l.defers = append(l.defers, l.newDeferred(d))
			}
		}
	}
}

// isRangeBody reports whether fn is the body of a range over a function: its defer statements belong
// to the function around it.
func isRangeBody(fn *ssa.Function) bool { _, ok := fn.Syntax().(*ast.RangeStmt); return ok }

func (l *lowerer) newDeferred(in *ssa.Defer) *deferred {
	d := &deferred{in: in}
	for b := range l.live {
		if _, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && !in.Block().Dominates(b) {
			d.flag = l.variable(ir.I1)
		}
	}
	if d.flag == nil {
		return d
	}
	l.emit(ir.OpStore, ir.Void, d.flag, l.constant(ir.I1, 0))
	d.saved = map[ssa.Value]*ir.Value{}
	for _, v := range usesOf(&in.Call) {
		_, global := v.(*ssa.Global)
		t, lack := irType(v.Type())
		if lack == nil && !global && !isConst(v) && !isStatic(v.Type()) && !isThread(v.Type()) {
			d.saved[v] = l.variable(t)
		}
	}
	return d
}

// executionOrder returns the blocks such that each is after those that lead to it, loops apart.
func executionOrder(fn *ssa.Function) []*ssa.BasicBlock {
	var order []*ssa.BasicBlock
	seen := blockSet{}
	var visit func(b *ssa.BasicBlock)
	visit = func(b *ssa.BasicBlock) {
		seen[b] = true
		for _, s := range b.Succs {
			if !seen[s] {
				visit(s)
			}
		}
		order = append(order, b)
	}
	if len(fn.Blocks) > 0 {
		visit(fn.Blocks[0])
	}
	slices.Reverse(order)
	return order
}

// deferCall lowers a defer statement: it sets the flag and saves what the call will use.
func (l *lowerer) deferCall(in *ssa.Defer) {
	switch {
	case isRangeBody(l.fn):
		l.refuse(diag.LangDefer, "call the function after the loop", "a kernel cannot defer a call in the body of a range over a function")
	case l.loops[in.Block()]:
		l.refuse(diag.LangDefer, "call the function at the end of the loop's body, or move the body into a function", "a kernel cannot defer a call in a loop")
	case in.Call.IsInvoke():
		l.lacks(&lackInterface)
	}
	l.checkDeferred(in)
	i := slices.IndexFunc(l.defers, func(d *deferred) bool { return d.in == in })
	d := l.defers[i]
	if d.flag == nil {
		return
	}
	l.emit(ir.OpStore, ir.Void, d.flag, l.constant(ir.I1, -1))
	for _, v := range usesOf(&in.Call) {
		if p := d.saved[v]; p != nil {
			l.emit(ir.OpStore, ir.Void, p, l.value(v))
		}
	}
}

// checkDeferred refuses a defer statement whose call cannot be lowered. runDefers would refuse the call
// too, but only in a function that returns, and a call of recover makes one that panics return.
func (l *lowerer) checkDeferred(in *ssa.Defer) {
	if b, ok := in.Call.Value.(*ssa.Builtin); ok {
		if b.Name() == "recover" {
			l.lacks(&lackRecover)
		}
		return
	}
	fn := in.Call.StaticCallee()
	if fn == nil {
		fn = l.known(in.Call.Value).fn
	}
	if intrinsicOf(fn) != nil && fn.Signature.Results().Len() > 0 {
		l.refuse(diag.LangDefer, "defer a function literal that calls it", "a kernel cannot defer %s, which has a result", callName(fn))
	}
	if at := recovery(fn); at.IsValid() {
		l.moveTo(at)
		l.lacks(&lackRecover)
	}
}

// recovery returns where fn calls recover, or token.NoPos.
func recovery(fn *ssa.Function) token.Pos {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			if b, ok := c.Call.Value.(*ssa.Builtin); ok && b.Name() == "recover" {
				return c.Pos()
			}
		}
	}
	return token.NoPos
}

// usesOf returns the arguments of a call and what the closure captures that it calls.
func usesOf(c *ssa.CallCommon) []ssa.Value {
	values := slices.Clone(c.Args)
	for _, v := range append([]ssa.Value{c.Value}, c.Args...) {
		if m, ok := v.(*ssa.MakeClosure); ok {
			values = append(values, m.Bindings...)
		}
	}
	return values
}

// runDefers lowers the deferred calls where the function ends.
func (l *lowerer) runDefers() {
	for _, d := range slices.Backward(l.defers) {
		if !from([]*ssa.BasicBlock{d.in.Block()}, nil, successors)[l.block] {
			continue
		}
		l.moveTo(d.in.Pos())
		if d.in.Block().Dominates(l.block) {
			l.guard(nil, func() { l.call(&ssa.Call{Call: d.in.Call}) })
			continue
		}
		run, after := l.f.NewBlock(), l.f.NewBlock()
		l.fork(l.emit(ir.OpLoad, ir.I1, d.flag), run, after)
		l.cur = run
		l.guard(nil, func() { l.restored(d, func() { l.call(&ssa.Call{Call: d.in.Call}) }) })
		l.jump(after)
		l.cur = after
	}
}

// restored calls f while the values that a call uses are the copies of them.
func (l *lowerer) restored(d *deferred, f func()) {
	before := map[ssa.Value]*ir.Value{}
	for _, v := range usesOf(&d.in.Call) {
		if p := d.saved[v]; p != nil {
			before[v] = l.values[v]
			l.values[v] = l.emit(ir.OpLoad, p.Aux.(*ir.Type), p)
		}
	}
	defer func() {
		for v, x := range before {
			l.values[v] = x
		}
	}()
	f()
}
