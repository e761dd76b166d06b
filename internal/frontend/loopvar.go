package frontend

import "golang.org/x/tools/go/ssa"

// loopVar is a variable of a for statement whose address is taken. Each iteration has its own: go/ssa
// makes the first before the loop and the next one at the end of each iteration, with
// the contents of the one before.
//
//	first = alloc
//	loop: now = phi [first, next]
//	...
//	tmp = *now
//	next = alloc
//	*next = tmp
//
// Where no address of next is kept for a later iteration, which checkEscape demands, one place
// can be all of them.
type loopVar struct {
	now         *ssa.Phi
	first, next *ssa.Alloc
}

// asLoopVar returns the variable that phi is, if it is one.
func asLoopVar(phi *ssa.Phi) (v loopVar, ok bool) {
	if len(phi.Edges) != 2 {
		return v, false
	}
	v.now = phi
	for i, p := range phi.Block().Preds {
		a, alloc := phi.Edges[i].(*ssa.Alloc)
		switch {
		case !alloc:
			return v, false
		case isBackEdge(p, phi.Block()):
			v.next = a
		default:
			v.first = a
		}
	}
	return v, v.first != nil && v.next != nil && v.copied()
}

// copied reports whether next begins as a copy of now.
func (v loopVar) copied() bool {
	in := v.next.Block().Instrs
	for i, x := range in[:len(in)-1] {
		if x != ssa.Instruction(v.next) {
			continue
		}
		store, ok := in[i+1].(*ssa.Store)
		if !ok || store.Addr != v.next {
			return false
		}
		load, ok := store.Val.(*ssa.UnOp)
		return ok && load.X == v.now
	}
	return false
}

// loopVarOf returns the variable of which a is the next one, if it is one.
func loopVarOf(a *ssa.Alloc) (loopVar, bool) {
	for _, in := range referrers(a) {
		if phi, ok := in.(*ssa.Phi); ok {
			if v, ok := asLoopVar(phi); ok && v.next == a {
				return v, true
			}
		}
	}
	return loopVar{}, false
}
