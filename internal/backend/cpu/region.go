package cpu

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// region is code between barriers: all threads, of the block or of a warp, run it, one after the other, from its first block
// to the same end.
type region struct {
	first  *ir.Block
	blocks []*ir.Block // in reverse postorder
	// to has the first blocks of the regions that may follow, two where branch is set: the
	// condition of the last block's branch, by which the threads go on together.
	to     []*ir.Block
	branch *ir.Value
	leaves bool      // threads may leave the kernel here while others go on
	meets  *ir.Value // where they wait at the end; nil for nowhere
}

// place returns the first position of what g does.
func (g *region) place() ir.Pos {
	for _, b := range g.blocks {
		for _, v := range b.Values {
			if v.Pos.Known() {
				return v.Pos
			}
		}
	}
	return ir.Pos{}
}

// regions are those of a kernel.
type regions struct {
	uni   *analysis.Uniformity
	dom   *ir.Dom
	warps bool      // the threads that go on together are those of a warp
	list  []*region // in reverse postorder of their first blocks
	of    []*region // by block ID
	// together has the branches that threads must take together because a barrier depends on them.
	together map[*ir.Block]bool
}

// divide cuts f into regions. The error says why that cannot be.
func divide(f *ir.Func) (*regions, error) {
	dom := ir.Dominators(f)
	r := &regions{uni: analysis.NewUniformity(dom), dom: dom, warps: meetsInWarps(f), of: make([]*region, f.NumBlocks()), together: map[*ir.Block]bool{}}
	if r.warps {
		r.uni = analysis.NewWarpUniformity(dom)
	}
	if err := r.decide(); err != nil {
		return nil, err
	}
	r.gather(r.firsts())
	for _, g := range r.list {
		if err := r.end(g); err != nil {
			return nil, err
		}
	}
	return r, r.checkLeaving()
}

// decide finds the branches that barriers depend on.
func (r *regions) decide() error {
	deciders := r.uni.Control().Deciders()
	var work []*ir.Block
	for _, b := range r.dom.Order() {
		if isBarrier(b) {
			if !r.uni.Control().Exits(b) {
				return fmt.Errorf("the %s at %v is in an infinite loop", meeting(b).Op, place(b))
			}
			work = append(work, b)
		}
	}
	seen := map[*ir.Block]bool{}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[b] {
			continue
		}
		seen[b] = true
		for _, d := range deciders[b.ID] {
			if r.uni.Varying(d.Term().Args[0]) || r.uni.Divergent(d) {
				return r.parted(b)
			}
			r.together[d] = true
			work = append(work, d)
		}
	}
	return nil
}

// parted returns why threads do not come to b together.
func (r *regions) parted(b *ir.Block) error {
	what, who := "a branch", "threads"
	if m := meeting(b); m != nil {
		what = m.Op.String()
	}
	if r.warps {
		who = "threads of a warp"
	}
	return fmt.Errorf("whether a thread reaches the %s at %v depends on a branch on which %s diverge", what, place(b), who)
}

// isBarrier reports whether threads wait at the end of b.
func isBarrier(b *ir.Block) bool { return meeting(b) != nil }

// meeting returns the operation at the end of b at which threads wait for each other; nil for none.
func meeting(b *ir.Block) *ir.Value {
	if n := len(b.Values); n > 1 && waits(b.Values[n-2]) {
		return b.Values[n-2]
	}
	return nil
}

func waits(v *ir.Value) bool { return analysis.BlockBarrier(v.Op) || analysis.WarpOp(v.Op) }

// votes reports whether v is a barrier of the block that counts the threads for which a condition
// holds.
func votes(v *ir.Value) bool { return v.Op != ir.OpBarrier && analysis.BlockBarrier(v.Op) }

// place returns the position of b's last value that has one.
func place(b *ir.Block) string {
	for _, v := range slices.Backward(b.Values) {
		if v.Pos.Known() {
			return fmt.Sprintf("%s:%d", v.Pos.File, v.Pos.Line)
		}
	}
	return "an unknown position"
}

// firsts returns the block of each block's region with which that begins, by ID: the entry,
// where threads go on after a barrier or together after a branch, and where regions meet.
func (r *regions) firsts() []*ir.Block {
	order := r.dom.Order()
	first := make([]*ir.Block, len(r.of))
	for _, b := range order {
		if len(b.Preds) == 0 || slices.ContainsFunc(b.Preds, func(p *ir.Block) bool { return isBarrier(p) || r.together[p] && !r.uni.Leaves(p, b) }) {
			first[b.ID] = b
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range order {
			var f *ir.Block
			for _, p := range b.Preds {
				switch q := first[p.ID]; {
				case q == nil || first[b.ID] == b:
				case f == nil:
					f = q
				case f != q:
					f = b
				}
			}
			if f != nil && f != first[b.ID] && first[b.ID] != b {
				first[b.ID], changed = f, true
			}
		}
	}
	return first
}

func (r *regions) gather(first []*ir.Block) {
	for _, b := range r.dom.Order() {
		f := first[b.ID]
		if f == b {
			r.of[b.ID] = &region{first: b}
			r.list = append(r.list, r.of[b.ID])
		}
		g := r.of[f.ID]
		r.of[b.ID] = g
		g.blocks = append(g.blocks, b)
	}
}

// end finds where g leads.
func (r *regions) end(g *region) error {
	for _, b := range g.blocks {
		if m := meeting(b); m != nil {
			g.meets = m
		}
		if r.together[b] {
			if g.branch != nil || len(g.to) > 0 {
				return fmt.Errorf("threads diverge at %v", place(b))
			}
			g.branch, g.to = b.Term().Args[0], b.Succs
			continue
		}
		for _, s := range b.Succs {
			if r.of[s.ID].first != s || r.uni.Leaves(b, s) || slices.Contains(g.to, s) {
				continue
			}
			if len(g.to) > 0 {
				return fmt.Errorf("threads diverge at %v", place(b))
			}
			g.to = append(g.to, s)
		}
	}
	return nil
}

// checkLeaving demands that what threads do who leave belongs to their region alone, and that
// all others stay.
func (r *regions) checkLeaving() error {
	for _, g := range r.list {
		leaving := map[*ir.Block]bool{}
		for _, b := range g.blocks {
			for _, p := range b.Preds {
				if r.uni.Leaves(p, b) && r.of[p.ID] != g {
					return fmt.Errorf("threads that exit at %v share code with threads that continue", place(p))
				}
				if leaving[p] || r.uni.Leaves(p, b) {
					leaving[b] = true
				}
			}
		}
		g.leaves = len(leaving) > 0
		for b := range leaving {
			for _, s := range b.Succs {
				if r.of[s.ID] != g || s == g.first {
					return fmt.Errorf("threads that exit at %v share code with threads that continue", place(b))
				}
			}
		}
		for _, b := range g.blocks {
			if b.Term().Op == ir.OpRet && len(g.to) > 0 && !leaving[b] {
				return fmt.Errorf("threads diverge at %v", place(b))
			}
		}
	}
	return nil
}

// meetsInWarps reports whether the threads of a warp wait for each other.
func meetsInWarps(f *ir.Func) bool {
	return slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
		return slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return analysis.WarpOp(v.Op) })
	})
}
