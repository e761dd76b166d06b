package layout

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Prepare brings the control flow of f into the form that the other files rely on. Every barrier, of
// block or warp, is the last value of its block but for a jump; every loop has a preheader; a block
// that only returns has one predecessor; and no edge leads from a branch to phis. Thread indices along
// axes on which the block has one thread are constants.
func Prepare(f *ir.Func) {
	foldIndices(f)
	for i := 0; i < len(f.Blocks); i++ {
		splitBarrier(f.Blocks[i])
	}
	for _, b := range slices.Clone(f.Blocks) {
		splitReturn(b)
	}
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		if l.Preheader() == nil {
			addPreheader(l)
		}
	}
	for _, b := range slices.Clone(f.Blocks) {
		if len(b.Succs) < 2 {
			continue
		}
		for i, s := range b.Succs {
			if len(s.Preds) > 1 && len(s.Phis()) > 0 {
				b.SplitEdge(i)
			}
		}
	}
}

// OriginalIDs holds the IDs that values had before compact, by which the text names them.
type OriginalIDs struct {
	old  []int // by ID
	next int   // of the first value that was added
}

// Compact gives the values and blocks of f IDs without gaps: optimisation leaves one in ten of them, and
// there are many tables by ID.
func Compact(f *ir.Func) OriginalIDs {
	values := slices.Clone(f.Params)
	for _, b := range f.Blocks {
		values = append(values, b.Values...)
	}
	before := make([]int, len(values))
	for i, v := range values {
		before[i] = v.ID
	}
	n := OriginalIDs{old: make([]int, len(values)), next: f.NumValues()}
	f.Compact()
	for i, v := range values {
		n.old[v.ID] = before[i]
	}
	return n
}

// Of returns the ID that v had before compact, or would have had.
func (n OriginalIDs) Of(v *ir.Value) int {
	if v.ID < len(n.old) {
		return n.old[v.ID]
	}
	return n.next + v.ID - len(n.old)
}

// foldIndices replaces thread indices that the block's size determines by constants. The text must treat
// them as such, as Go has rules of its own for constants.
func foldIndices(f *ir.Func) {
	if f.Block == [3]int{} {
		return
	}
	isZero := func(v *ir.Value) bool {
		switch v.Op {
		case ir.OpTid:
			return f.Block[v.Imm] <= 1
		case ir.OpSExt, ir.OpZExt:
			return v.Args[0].Op == ir.OpTid && f.Block[v.Args[0].Imm] <= 1
		}
		return false
	}
	var zeros []*ir.Value
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if isZero(v) {
				zeros = append(zeros, v)
			}
		}
	}
	for _, v := range zeros {
		v.Op, v.Imm, v.Args = ir.OpConst, 0, nil
	}
}

// splitBarrier moves what follows the first barrier of b to a new block.
func splitBarrier(b *ir.Block) {
	i := slices.IndexFunc(b.Values, func(v *ir.Value) bool { return Waits(v) })
	if i < 0 {
		return
	}
	rest := b.Split(i + 1)
	b.Append(ir.OpJump, ir.Void).Pos = b.Values[i].Pos
	b.AddEdge(rest)
}

// splitReturn gives each predecessor of a block that only returns its own copy.
func splitReturn(b *ir.Block) {
	if len(b.Values) != 1 || b.Term().Op != ir.OpRet {
		return
	}
	for len(b.Preds) > 1 {
		p := b.Preds[1]
		own := b.Func.NewBlock()
		own.Append(ir.OpRet, ir.Void).Pos = b.Term().Pos
		b.Preds = slices.Delete(b.Preds, 1, 2)
		p.Succs[slices.Index(p.Succs, b)] = own
		own.Preds = []*ir.Block{p}
	}
}

// addPreheader gives l a preheader, with phis only where the entries' arguments differ.
func addPreheader(l *analysis.Loop) {
	p := l.Header.SplitPreds(func(p *ir.Block) bool { return !l.Contains(p) })
	p.Term().Pos = l.Header.Term().Pos
	trivial := func(v *ir.Value) bool { return v.Op == ir.OpPhi && len(slices.Compact(slices.Clone(v.Args))) == 1 }
	for _, phi := range l.Header.Phis() {
		if last := &phi.Args[len(phi.Args)-1]; trivial(*last) {
			*last = (*last).Args[0]
		}
	}
	p.Values = slices.DeleteFunc(p.Values, trivial)
}
