package frontend

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A function that is given functions, returns them or captures them is lowered anew at each call, in
// the middle of its caller: then it is known there what they are. The lowerer of such a function has
// an outer one, with which it shares the IR function.

// frame is how the lowerer of an inlined function hangs together with its caller's.
type frame struct {
	outer   *lowerer
	made    ref               // where the closure was made
	refs    map[ssa.Value]ref // what parameters and captured variables of function types stand for
	after   *ir.Block         // where returns lead to
	returns [][]*ir.Value
	funcs   [][]*closure // that are returned, nil among them for other results
	inLoop  bool         // the call stands in a loop
}

// ref is a value of another frame.
type ref struct {
	v  ssa.Value
	in *lowerer
}

// isFunc reports whether values of type t are functions.
func isFunc(t types.Type) bool { _, ok := t.Underlying().(*types.Signature); return ok }

// isCell reports whether t is the address of a variable of a function type.
func isCell(t types.Type) bool {
	p, ok := t.Underlying().(*types.Pointer)
	return ok && isFunc(p.Elem())
}

// isStatic reports whether values of type t have no form in IR, and are known while lowering.
func isStatic(t types.Type) bool { return isFunc(t) || isCell(t) || isDeferStack(t) }

// isDeferStack reports whether t is what go/ssa has for the list of deferred calls, or its address.
func isDeferStack(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	return ok && n.Obj().Name() == "deferStack" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "$ssa"
}

// mustInline reports whether fn is given functions or returns them.
func mustInline(fn *ssa.Function) bool {
	return slices.ContainsFunc(fn.Params, func(p *ssa.Parameter) bool { return isStatic(p.Type()) }) ||
		slices.ContainsFunc(fn.FreeVars, func(v *ssa.FreeVar) bool { return isStatic(v.Type()) }) ||
		anyResult(fn.Signature, isFunc)
}

func anyResult(s *types.Signature, is func(types.Type) bool) bool {
	for r := range s.Results().Variables() {
		if is(r.Type()) {
			return true
		}
	}
	return false
}

// inline lowers the call of fn in place. Make is where the closure was made that is called, or
// zero.
func (l *lowerer) inline(v *ssa.Call, fn *ssa.Function, made ref) *ir.Value {
	l.checkDepth(fn, made)
	l.checkCallee(fn)
	inner := l.enter(v, fn, made)
	l.b.open = append(l.b.open, fn)
	inner.lowerBlocks()
	l.b.open = l.b.open[:len(l.b.open)-1]
	l.found.Add(inner.found...)
	l.u.calls = append(l.u.calls, inner.u)
	l.checkProblem(inner.u, fn)
	if inner.gaveUp {
		panic(refused{})
	}
	l.cur = inner.frame.after
	return l.results(v, inner)
}

// maxNested is how often a function may be inlined within itself. One that takes a function may
// call it with another one: that ends, but recursion does not.
const maxNested = 8

func (l *lowerer) checkDepth(fn *ssa.Function, made ref) {
	n := 0
	at := l
	for ; at.frame != nil; at = at.frame.outer {
		if at.fn != fn {
			continue
		}
		if n++; n == maxNested || made.v != nil && at.frame.made == made {
			open := l.b.open
			for open[len(open)-1] != fn {
				open = open[:len(open)-1]
			}
			l.recursion(l.b.open[len(open)-1:])
		}
	}
	if at.fn == fn { // a function further out, which this one is no part of, may have fn inlined with another function, too
		l.recursion(l.b.open[slices.Index(l.b.open, fn):])
	}
}

// enter makes the lowerer of fn, with the arguments of the call v, and jumps into it.
func (l *lowerer) enter(v *ssa.Call, fn *ssa.Function, made ref) *lowerer {
	inner := newLowerer(l.b, &unit{fn: fn, ir: l.f})
	inner.f, inner.consts, inner.pos, inner.at = l.f, l.consts, l.pos, l.at
	inner.frame = &frame{outer: l, made: made, refs: map[ssa.Value]ref{}, after: l.f.NewBlock(), inLoop: l.repeats(l.block)}
	for i, p := range fn.Params {
		inner.bind(p, ref{v.Call.Args[i], l})
	}
	if m, ok := made.v.(*ssa.MakeClosure); ok {
		for i, p := range fn.FreeVars {
			inner.bind(p, ref{m.Bindings[i], made.in})
		}
	}
	for _, b := range fn.Blocks {
		if inner.live[b] {
			inner.blocks[b] = &span{first: l.f.NewBlock()}
		}
	}
	inner.cur = l.cur
	for _, p := range fn.Params {
		inner.spillResult(p)
	}
	inner.findDefers()
	inner.jump(inner.blocks[fn.Blocks[0]].first)
	return inner
}

// bind describes what a parameter or a captured variable is.
func (l *lowerer) bind(p ssa.Value, is ref) {
	switch {
	case isStatic(p.Type()):
		l.frame.refs[p] = is
	case !isThread(p.Type()):
		l.values[p] = is.in.value(is.v)
	}
}

// leave lowers a return of an inlined function.
func (l *lowerer) leave(in *ssa.Return) {
	var values []*ir.Value
	var funcs []*closure
	for _, r := range in.Results {
		var x *ir.Value
		var c *closure
		if isFunc(r.Type()) {
			c = l.resolve(r)
		} else {
			x = l.value(r)
		}
		values, funcs = append(values, x), append(funcs, c)
	}
	l.frame.returns, l.frame.funcs = append(l.frame.returns, values), append(l.frame.funcs, funcs)
	l.jump(l.frame.after)
}

// results returns the result of an inlined call, and notes the functions among several.
func (l *lowerer) results(v *ssa.Call, inner *lowerer) *ir.Value {
	sig := inner.fn.Signature.Results()
	values := make([]*ir.Value, sig.Len())
	for i := range values {
		if isFunc(sig.At(i).Type()) {
			l.funcs[member{v, i}] = inner.returned(i)
			continue
		}
		values[i] = l.joined(l.irType(sig.At(i).Type()), inner.frame.returns, i)
	}
	switch {
	case len(values) == 0 || anyResult(inner.fn.Signature, isFunc) && len(values) == 1:
		return nil
	case len(values) == 1:
		return values[0]
	}
	var parts []*ir.Value
	var fields []*ir.Type
	for _, x := range values {
		if x == nil {
			x = l.zero(threadType)
		}
		parts, fields = append(parts, x), append(fields, x.Type)
	}
	return l.emit(ir.OpStruct, ir.StructOf(fields...), parts...)
}

// joined returns result i, of whichever return.
func (l *lowerer) joined(t *ir.Type, returns [][]*ir.Value, i int) *ir.Value {
	switch len(returns) {
	case 0: // the function does not return
		return l.zero(t)
	case 1:
		return returns[0][i]
	}
	phi := l.emit(ir.OpPhi, t)
	for _, r := range returns {
		phi.Args = append(phi.Args, r[i])
	}
	return phi
}

// returned returns the function that is result i, if it is always the same one.
func (l *lowerer) returned(i int) *closure {
	var first *closure
	for _, r := range l.frame.funcs {
		if first == nil {
			first = r[i]
		}
		if !first.is(r[i]) {
			return nil
		}
	}
	return first
}

// repeats reports whether a block may be executed several times in a thread.
func (l *lowerer) repeats(b *ssa.BasicBlock) bool {
	return l.loops[b] || l.frame != nil && l.frame.inLoop
}

// root returns the lowerer of the IR function.
func (l *lowerer) root() *lowerer {
	for l.frame != nil {
		l = l.frame.outer
	}
	return l
}

// dynamicCall lowers a call of a function value.
func (l *lowerer) dynamicCall(v *ssa.Call) *ir.Value {
	c := l.known(v.Call.Value)
	if lower := intrinsicOf(c.fn); lower != nil {
		l.refuse(diag.LangFunc, "wrap the call in a function", "a kernel cannot use %s as a function value", callName(c.fn))
	}
	return l.inline(v, c.fn, ref{c.made, c.in})
}

// known returns the function that is called through v.
func (l *lowerer) known(v ssa.Value) *closure {
	c := l.resolve(v)
	if c == nil {
		l.refuse(diag.LangFunc, lackFunc.help, "a kernel cannot call a function value that is not known when it is compiled")
	}
	return c
}
