package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// maxRotated is the cost of a loop header that is copied.
const maxRotated = 24

// rotate turns loops that test at the top into loops that test at the bottom, after a test before the
// loop. The body then runs at least once, so that invariants may leave it, and an iteration has one
// branch less.
//
//	b0: jump b1                       b0: %5 = slt i1 0, %n
//	b1: %i = phi 0, %j                    if %5 b2 b3
//	    %c = slt i1 %i, %n            b2: %i = phi 0, %j
//	    if %c b2 b3               ->      store %a, %i
//	b2: store %a, %i                      %j = add %i, 1
//	    %j = add %i, 1                    %c = slt i1 %j, %n
//	    jump b1                           if %c b2 b3
func rotate(f *ir.Func, _ *Options) (changed bool) {
	loops := analysis.Loops(ir.Dominators(f))
	for _, l := range slices.Backward(loops) { // outer ones first: what is copied is in no inner one
		changed = rotateLoop(l) || changed
	}
	return changed
}

func rotateLoop(l *analysis.Loop) bool {
	h := l.Header
	if !rotatable(l) {
		return false
	}
	in := slices.IndexFunc(h.Succs, l.Contains)
	if len(h.Succs[in].Preds) > 1 {
		h.SplitEdge(in)
	}
	values := slices.DeleteFunc(slices.Clone(h.Values), func(v *ir.Value) bool { return v.Type.Kind == ir.KindVoid || v.Op == ir.OpAlloca })
	edit.Demote(values, func(u *ir.Value, i int) bool {
		return u.Op != ir.OpPhi && u.Block == h || u.Op == ir.OpPhi && u.Block.Preds[i] == h
	})
	edit.CopyHeader(l)
	return true
}

// rotatable reports whether the header decides between the loop and its end, is no latch
// and is small. A loop that ends at its latch by a counter stays as it is: other passes know that form.
func rotatable(l *analysis.Loop) bool {
	h := l.Header
	if _, ok := l.Limit(); ok && l.Contains(l.Latches[0].Succs[0]) != l.Contains(l.Latches[0].Succs[1]) {
		return false
	}
	if len(h.Succs) != 2 || slices.Contains(l.Latches, h) || l.Contains(h.Succs[0]) == l.Contains(h.Succs[1]) {
		return false
	}
	sum := 0
	for _, v := range h.Values {
		if v.Op == ir.OpAlloca || v.Op.Convergent() || v.Op == ir.OpPrint {
			return false
		}
		sum += cost(v)
	}
	return sum <= maxRotated
}
