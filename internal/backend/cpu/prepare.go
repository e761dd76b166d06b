package cpu

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// prepare changes the control flow of f, not its meaning, so that every barrier, of block or warp, is the last value
// of its block but for a jump, every loop is entered from a block that leads nowhere else, a
// block that only returns has one predecessor, and no edge leads from a branch to phis. Indexes of threads along axes
// on which the block has but one are constants then.
func prepare(f *ir.Func) {
	fixIndexes(f)
	for i := 0; i < len(f.Blocks); i++ {
		splitBarrier(f.Blocks[i])
	}
	for _, b := range slices.Clone(f.Blocks) {
		splitReturn(b)
	}
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		enterOnce(l)
	}
	for _, b := range slices.Clone(f.Blocks) {
		if len(b.Succs) < 2 {
			continue
		}
		for i, s := range b.Succs {
			if len(s.Preds) > 1 && len(s.Phis()) > 0 {
				splitEdge(b, i)
			}
		}
	}
}

// numbers are the IDs that values had at first, by which the text names them.
type numbers struct {
	old  []int // by ID
	next int   // of the first value that was added
}

// compact gives the values and blocks of f IDs without gaps: optimisation leaves one in ten of them, and tables by ID are many.
func compact(f *ir.Func) numbers {
	values := slices.Clone(f.Params)
	for _, b := range f.Blocks {
		values = append(values, b.Values...)
	}
	before := make([]int, len(values))
	for i, v := range values {
		before[i] = v.ID
	}
	n := numbers{old: make([]int, len(values)), next: f.NumValues()}
	f.Compact()
	for i, v := range values {
		n.old[v.ID] = before[i]
	}
	return n
}

// of returns the ID that v had at first, or would have.
func (n numbers) of(v *ir.Value) int {
	if v.ID < len(n.old) {
		return n.old[v.ID]
	}
	return n.next + v.ID - len(n.old)
}

// fixIndexes makes constants of the indexes that the size of the block leaves no choice: the text is to treat them as such,
// for Go computes with constants by rules of its own.
func fixIndexes(f *ir.Func) {
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

// splitBarrier moves what follows b's first barrier to a new block.
func splitBarrier(b *ir.Block) {
	i := slices.IndexFunc(b.Values, func(v *ir.Value) bool { return waits(v) })
	if i < 0 {
		return
	}
	rest := b.Func.NewBlock()
	rest.Values = slices.Clone(b.Values[i+1:])
	for _, v := range rest.Values {
		v.Block = rest
	}
	rest.Succs = b.Succs
	for _, s := range rest.Succs {
		s.Preds[s.PredIndex(b)] = rest
	}
	pos := b.Values[i].Pos
	b.Values, b.Succs = b.Values[:i+1:i+1], nil
	b.Append(ir.OpJump, ir.Void).Pos = pos
	b.AddEdge(rest)
}

// splitReturn gives each predecessor of a block that only returns one of its own.
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

// enterOnce puts a block in front of l's header that all ways into the loop pass.
func enterOnce(l *analysis.Loop) {
	h := l.Header
	if e := l.Entries(); len(e) == 1 && len(e[0].Succs) == 1 {
		return
	}
	p := h.Func.NewBlock()
	for _, phi := range h.Phis() {
		p.Append(ir.OpPhi, phi.Type).Pos = phi.Pos
	}
	for i := 0; i < len(h.Preds); {
		from := h.Preds[i]
		if l.Contains(from) {
			i++
			continue
		}
		for k, phi := range h.Phis() {
			p.Values[k].Args = append(p.Values[k].Args, phi.Args[i])
			phi.Args = slices.Delete(phi.Args, i, i+1)
		}
		h.Preds = slices.Delete(h.Preds, i, i+1)
		from.Succs[slices.Index(from.Succs, h)] = p
		p.Preds = append(p.Preds, from)
	}
	for k, phi := range h.Phis() {
		phi.Args = append(phi.Args, single(p.Values[k]))
	}
	p.Values = slices.DeleteFunc(p.Values, func(v *ir.Value) bool { return single(v) != v })
	p.Append(ir.OpJump, ir.Void).Pos = h.Term().Pos
	p.AddEdge(h)
}

// single returns what a phi stands for whose arguments are all the same.
func single(phi *ir.Value) *ir.Value {
	for _, a := range phi.Args {
		if a != phi.Args[0] {
			return phi
		}
	}
	return phi.Args[0]
}

// splitEdge puts an empty block on the edge from b to its successor i.
func splitEdge(b *ir.Block, i int) {
	s := b.Succs[i]
	e := b.Func.NewBlock()
	e.Append(ir.OpJump, ir.Void).Pos = b.Term().Pos
	b.Succs[i] = e
	e.Preds = []*ir.Block{b}
	e.Succs = []*ir.Block{s}
	s.Preds[s.PredIndex(b)] = e
}
