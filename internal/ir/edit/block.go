package edit

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// RemoveUnreachable removes the blocks that the entry does not reach.
func RemoveUnreachable(f *ir.Func) {
	reached := reachable(f)
	dead := func(b *ir.Block) bool { return !reached[b.ID] }
	for _, b := range f.Blocks {
		if dead(b) {
			for len(b.Succs) > 0 {
				b.RemoveEdge(0)
			}
		}
	}
	f.Blocks = slices.DeleteFunc(f.Blocks, dead)
}

// reachable says by ID which blocks the entry reaches.
func reachable(f *ir.Func) []bool {
	reached := make([]bool, f.NumBlocks())
	reached[f.Blocks[0].ID] = true
	work := append(make([]*ir.Block, 0, 64), f.Blocks[0])
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range b.Succs {
			if !reached[s.ID] {
				reached[s.ID] = true
				work = append(work, s)
			}
		}
	}
	return reached
}

// RemovePred takes p out of the predecessors of b, with its phi arguments; p's side of the
// edge is the caller's.
func RemovePred(b, p *ir.Block) {
	k := b.PredIndex(p)
	b.Preds = slices.Delete(b.Preds, k, k+1)
	for _, phi := range b.Phis() {
		phi.Args = slices.Delete(phi.Args, k, k+1)
	}
}

// InsertPhi puts a new phi without arguments before b's values.
func InsertPhi(b *ir.Block, t *ir.Type) *ir.Value {
	phi := b.Make(ir.OpPhi, t)
	b.Values = slices.Insert(b.Values, 0, phi)
	return phi
}

// SetTerm replaces the terminator of b.
func SetTerm(b *ir.Block, op ir.Op, args ...*ir.Value) {
	old := b.Term()
	t := b.Make(op, ir.Void, args...)
	t.Pos = old.Pos
	b.Values[len(b.Values)-1] = t
}

// AddPreheaders gives every loop a preheader.
func AddPreheaders(f *ir.Func) {
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		if l.Preheader() == nil {
			l.Header.SplitPreds(func(p *ir.Block) bool { return !l.Contains(p) })
		}
	}
}
