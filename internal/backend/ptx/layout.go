package ptx

import "github.com/gopherwarp/gopherwarp/internal/ir"

// layout returns the blocks that the entry reaches in the order in which they are printed:
// reverse postorder, but with the blocks of a loop side by side and blocks that fault last.
// A block is after its dominators, but for those last ones, which dominate nothing.
func layout(f *ir.Func) []*ir.Block {
	l := &blockPlacer{dom: ir.Dominators(f), placed: make([]bool, f.NumBlocks())}
	for _, b := range l.dom.Order() {
		l.place(b)
	}
	return append(l.out, l.cold...)
}

// A blockPlacer orders the blocks of a function.
type blockPlacer struct {
	dom       *ir.Dom
	placed    []bool
	out, cold []*ir.Block
}

// place adds b and, where it heads a loop, the loop.
func (l *blockPlacer) place(b *ir.Block) {
	if l.placed[b.ID] {
		return
	}
	l.placed[b.ID] = true
	if t := b.Term(); t.Op == ir.OpFault {
		l.cold = append(l.cold, b)
		return
	}
	l.out = append(l.out, b)
	if in := l.loop(b); in != nil {
		for _, m := range l.dom.Order() {
			if in[m.ID] {
				l.place(m)
			}
		}
	}
}

// loop returns which blocks, by ID, are in the natural loop that head heads; nil if it
// heads none.
func (l *blockPlacer) loop(head *ir.Block) []bool {
	var in []bool
	var work []*ir.Block
	for _, p := range head.Preds {
		if l.dom.Rank(p) >= 0 && l.dom.Dominates(head, p) {
			work = append(work, p)
		}
	}
	if len(work) == 0 {
		return nil
	}
	in = make([]bool, len(l.placed))
	in[head.ID] = true
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if in[b.ID] || l.dom.Rank(b) < 0 {
			continue
		}
		in[b.ID] = true
		work = append(work, b.Preds...)
	}
	return in
}
