package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// maxRotated is the cost of a loop header that is copied.
const maxRotated = 24

// rotate turns loops that test at the top into loops that test at the bottom, after a test before the
// loop. The body then runs at least once, so that invariants may leave it, and an iteration has one
// branch less.
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
	for _, v := range slices.Clone(h.Values) {
		if v.Type.Kind != ir.KindVoid && v.Op != ir.OpAlloca {
			demote(v, func(u *ir.Value, i int) bool {
				return u.Op != ir.OpPhi && u.Block == h || u.Op == ir.OpPhi && u.Block.Preds[i] == h
			})
		}
	}
	copyHeader(l)
	return true
}

// rotatable reports whether the header decides between the loop and its end, is no latch
// and is small.
func rotatable(l *analysis.Loop) bool {
	h := l.Header
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

// copyHeader makes a copy of the header for those that enter the loop; the header itself is
// left to the latches. The values it defines are in locals, so only phis need care.
func copyHeader(l *analysis.Loop) {
	h := l.Header
	c := newCloner(h.Func, h.Func)
	first := c.newBlock(h)
	for _, v := range h.Values {
		c.value(v)
	}
	for _, v := range first.Values[len(h.Phis()):] {
		c.mapArgs(v)
	}
	for i, phi := range first.Phis() {
		phi.Args = nil
		old := h.Phis()[i]
		for k, a := range slices.Clone(old.Args) {
			if !l.Contains(h.Preds[k]) {
				phi.Args = append(phi.Args, a)
			}
		}
	}
	for _, p := range l.Entries() {
		i := slices.Index(p.Succs, h)
		removePred(h, p)
		p.Succs[i] = first
		first.Preds = append(first.Preds, p)
	}
	for _, s := range h.Succs {
		k := s.PredIndex(h)
		first.AddEdge(s)
		for _, phi := range s.Phis() {
			phi.Args = append(phi.Args, c.of(phi.Args[k]))
		}
	}
}

// removePred takes p out of the predecessors of b, with its phi arguments; p's side of the
// edge is the caller's.
func removePred(b, p *ir.Block) {
	k := b.PredIndex(p)
	b.Preds = slices.Delete(b.Preds, k, k+1)
	for _, phi := range b.Phis() {
		phi.Args = slices.Delete(phi.Args, k, k+1)
	}
}
