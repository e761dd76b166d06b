package analysis

import (
	"cmp"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Loop is a natural loop: the blocks from which an edge back to the header can be reached
// without passing the header, which dominates them all.
type Loop struct {
	Header  *ir.Block
	Latches []*ir.Block // the sources of the edges back to the header
	Blocks  []*ir.Block // in reverse postorder, the header first
	Parent  *Loop       // the innermost loop around this one, or nil
	Depth   int         // 1 for an outermost loop

	in []bool // by block ID
}

// Contains reports whether b is a block of the loop.
func (l *Loop) Contains(b *ir.Block) bool { return b.ID < len(l.in) && l.in[b.ID] }

// Entries returns the predecessors of the header outside the loop.
func (l *Loop) Entries() []*ir.Block {
	var list []*ir.Block
	for _, p := range l.Header.Preds {
		if !l.Contains(p) {
			list = append(list, p)
		}
	}
	return list
}

// Preheader returns the only predecessor of the header outside the loop if the header is its only
// successor, or else nil.
func (l *Loop) Preheader() *ir.Block {
	if list := l.Entries(); len(list) == 1 && len(list[0].Succs) == 1 {
		return list[0]
	}
	return nil
}

// An Exit is an edge that leaves a loop.
type Exit struct{ From, To *ir.Block }

// Exits returns the edges that leave the loop.
func (l *Loop) Exits() []Exit {
	var list []Exit
	for _, b := range l.Blocks {
		for _, s := range b.Succs {
			if !l.Contains(s) {
				list = append(list, Exit{b, s})
			}
		}
	}
	return list
}

// Loops returns the natural loops of a function, inner loops before outer loops. All back edges to
// one header belong to one loop.
func Loops(dom *ir.Dom) []*Loop {
	var loops []*Loop
	for _, h := range dom.Order() {
		var latches []*ir.Block
		for _, p := range h.Preds {
			if dom.Rank(p) >= 0 && dom.Dominates(h, p) {
				latches = append(latches, p)
			}
		}
		if len(latches) > 0 {
			loops = append(loops, natural(dom, h, latches))
		}
	}
	nest(loops)
	return loops
}

func natural(dom *ir.Dom, h *ir.Block, latches []*ir.Block) *Loop {
	l := &Loop{Header: h, Latches: latches, in: make([]bool, h.Func.NumBlocks())}
	l.in[h.ID] = true
	l.Blocks = []*ir.Block{h}
	work := slices.Clone(latches)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if l.in[b.ID] || dom.Rank(b) < 0 {
			continue
		}
		l.in[b.ID] = true
		l.Blocks = append(l.Blocks, b)
		work = append(work, b.Preds...)
	}
	slices.SortFunc(l.Blocks, func(a, b *ir.Block) int { return cmp.Compare(dom.Rank(a), dom.Rank(b)) })
	return l
}

// nest orders the loops and finds their parents.
func nest(loops []*Loop) {
	slices.SortStableFunc(loops, func(a, b *Loop) int { return cmp.Compare(len(a.Blocks), len(b.Blocks)) })
	for i, l := range loops {
		for _, m := range loops[i+1:] {
			if m.in[l.Header.ID] {
				l.Parent = m
				break
			}
		}
	}
	for _, l := range slices.Backward(loops) {
		l.Depth = 1
		if l.Parent != nil {
			l.Depth = l.Parent.Depth + 1
		}
	}
}
