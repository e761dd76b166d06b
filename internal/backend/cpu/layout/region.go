package layout

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Region is code between barriers: all threads, of the block or of a warp, run it, one after the other, from its first block
// to the same end.
type Region struct {
	First  *ir.Block
	Blocks []*ir.Block // in reverse postorder
	// To has the first blocks of the regions that may follow, two where branch is set: the
	// condition of the last block's branch, by which the threads go on together.
	To     []*ir.Block
	Branch *ir.Value
	Leaves bool      // threads may leave the kernel here while others go on
	Meets  *ir.Value // where they wait at the end; nil for nowhere
}

// Place returns the first position of what g does.
func (g *Region) Place() ir.Pos {
	for _, b := range g.Blocks {
		for _, v := range b.Values {
			if v.Pos.Known() {
				return v.Pos
			}
		}
	}
	return ir.Pos{}
}

// Regions are those of a kernel.
type Regions struct {
	Uni   *analysis.Uniformity
	Dom   *ir.Dom
	Warps bool      // the threads that go on together are those of a warp
	List  []*Region // in reverse postorder of their first blocks
	Of    []*Region // by block ID
	// Together has the branches that threads must take together because a barrier depends on them.
	Together map[*ir.Block]bool
}

// Divide cuts f into regions. The error says why that cannot be.
func Divide(f *ir.Func) (*Regions, error) {
	dom := ir.Dominators(f)
	r := &Regions{Uni: analysis.NewUniformity(dom), Dom: dom, Warps: MeetsInWarps(f), Of: make([]*Region, f.NumBlocks()), Together: map[*ir.Block]bool{}}
	if r.Warps {
		r.Uni = analysis.NewWarpUniformity(dom)
	}
	if err := r.decide(); err != nil {
		return nil, err
	}
	r.gather(r.firsts())
	for _, g := range r.List {
		if err := r.end(g); err != nil {
			return nil, err
		}
	}
	return r, r.checkLeaving()
}

// decide finds the branches that barriers depend on.
func (r *Regions) decide() error {
	deciders := r.Uni.Control().Deciders()
	var work []*ir.Block
	for _, b := range r.Dom.Order() {
		if isBarrier(b) {
			if !r.Uni.Control().Exits(b) {
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
			if r.Uni.Varying(d.Term().Args[0]) || r.Uni.Divergent(d) {
				return r.parted(b)
			}
			r.Together[d] = true
			work = append(work, d)
		}
	}
	return nil
}

// parted returns why threads do not come to b together.
func (r *Regions) parted(b *ir.Block) error {
	what, who := "a branch", "threads"
	if m := meeting(b); m != nil {
		what = m.Op.String()
	}
	if r.Warps {
		who = "threads of a warp"
	}
	return fmt.Errorf("whether a thread reaches the %s at %v depends on a branch on which %s diverge", what, place(b), who)
}

// isBarrier reports whether threads wait at the end of b.
func isBarrier(b *ir.Block) bool { return meeting(b) != nil }

// meeting returns the operation at the end of b at which threads wait for each other; nil for none.
func meeting(b *ir.Block) *ir.Value {
	if n := len(b.Values); n > 1 && Waits(b.Values[n-2]) {
		return b.Values[n-2]
	}
	return nil
}

// Waits reports whether threads wait for each other at v.
func Waits(v *ir.Value) bool { return analysis.BlockBarrier(v.Op) || analysis.WarpOp(v.Op) }

// Votes reports whether v is a barrier of the block that counts the threads for which a condition
// holds.
func Votes(v *ir.Value) bool { return v.Op != ir.OpBarrier && analysis.BlockBarrier(v.Op) }

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
func (r *Regions) firsts() []*ir.Block {
	order := r.Dom.Order()
	first := make([]*ir.Block, len(r.Of))
	for _, b := range order {
		if len(b.Preds) == 0 || slices.ContainsFunc(b.Preds, func(p *ir.Block) bool { return isBarrier(p) || r.Together[p] && !r.Uni.Leaves(p, b) }) {
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

func (r *Regions) gather(first []*ir.Block) {
	for _, b := range r.Dom.Order() {
		f := first[b.ID]
		if f == b {
			r.Of[b.ID] = &Region{First: b}
			r.List = append(r.List, r.Of[b.ID])
		}
		g := r.Of[f.ID]
		r.Of[b.ID] = g
		g.Blocks = append(g.Blocks, b)
	}
}

// end finds where g leads.
func (r *Regions) end(g *Region) error {
	for _, b := range g.Blocks {
		if m := meeting(b); m != nil {
			g.Meets = m
		}
		if r.Together[b] {
			if g.Branch != nil || len(g.To) > 0 {
				return fmt.Errorf("threads diverge at %v", place(b))
			}
			g.Branch, g.To = b.Term().Args[0], b.Succs
			continue
		}
		for _, s := range b.Succs {
			if r.Of[s.ID].First != s || r.Uni.Leaves(b, s) || slices.Contains(g.To, s) {
				continue
			}
			if len(g.To) > 0 {
				return fmt.Errorf("threads diverge at %v", place(b))
			}
			g.To = append(g.To, s)
		}
	}
	return nil
}

// checkLeaving demands that what threads do who leave belongs to their region alone, and that
// all others stay.
func (r *Regions) checkLeaving() error {
	for _, g := range r.List {
		leaving := map[*ir.Block]bool{}
		for _, b := range g.Blocks {
			for _, p := range b.Preds {
				if r.Uni.Leaves(p, b) && r.Of[p.ID] != g {
					return fmt.Errorf("threads that exit at %v share code with threads that continue", place(p))
				}
				if leaving[p] || r.Uni.Leaves(p, b) {
					leaving[b] = true
				}
			}
		}
		g.Leaves = len(leaving) > 0
		for b := range leaving {
			for _, s := range b.Succs {
				if r.Of[s.ID] != g || s == g.First {
					return fmt.Errorf("threads that exit at %v share code with threads that continue", place(b))
				}
			}
		}
		for _, b := range g.Blocks {
			if b.Term().Op == ir.OpRet && len(g.To) > 0 && !leaving[b] {
				return fmt.Errorf("threads diverge at %v", place(b))
			}
		}
	}
	return nil
}

// MeetsInWarps reports whether the threads of a warp wait for each other.
func MeetsInWarps(f *ir.Func) bool {
	return slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool {
		return slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return analysis.WarpOp(v.Op) })
	})
}
