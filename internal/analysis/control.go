package analysis

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Control holds the postdominators and the control dependences of a function (Ferrante, Ottenstein
// and Warren, "The Program Dependence Graph and Its Use in Optimization").
type Control struct {
	cut   func(from, to *ir.Block) bool
	ipdom []int // by block ID: ID of the immediate postdominator; the exit's is the number of blocks
	rank  []int // by block ID: place in reverse postorder of the reverse graph; -1 where no exit is reached
	exit  int
	ids   []*ir.Block // by ID
}

// NewControl computes the postdominators of the function that dom belongs to. The exit is the
// return of the function. Faults do not lead to it. Edges for which cut returns true are ignored.
func NewControl(dom *ir.Dom, cut func(from, to *ir.Block) bool) *Control {
	n := dom.Order()[0].Func.NumBlocks()
	c := &Control{cut: cut, ipdom: make([]int, n+1), rank: make([]int, n+1), exit: n, ids: make([]*ir.Block, n)}
	for i := range c.ipdom {
		c.ipdom[i], c.rank[i] = -1, -1
	}
	var exits []*ir.Block
	for _, b := range dom.Order() {
		c.ids[b.ID] = b
		if b.Term().Op == ir.OpRet {
			exits = append(exits, b)
		}
	}
	c.solve(c.number(exits))
	return c
}

// number ranks the blocks and returns them in reverse postorder of the reverse graph.
func (c *Control) number(exits []*ir.Block) []*ir.Block {
	var post []*ir.Block
	seen := make([]bool, c.exit)
	var visit func(b *ir.Block)
	visit = func(b *ir.Block) {
		seen[b.ID] = true
		for _, p := range b.Preds {
			if c.ids[p.ID] != nil && !seen[p.ID] && !c.cut(p, b) {
				visit(p)
			}
		}
		post = append(post, b)
	}
	for _, b := range exits {
		if !seen[b.ID] {
			visit(b)
		}
	}
	slices.Reverse(post)
	for i, b := range post {
		c.rank[b.ID] = i + 1
	}
	c.rank[c.exit] = 0
	return post
}

// solve finds the immediate postdominators, as ir.Dominators finds dominators.
func (c *Control) solve(order []*ir.Block) {
	c.ipdom[c.exit] = c.exit
	for changed := true; changed; {
		changed = false
		for _, b := range order {
			to := -1
			if b.Term().Op == ir.OpRet {
				to = c.exit
			}
			for _, s := range b.Succs {
				switch {
				case c.cut(b, s) || c.rank[s.ID] < 0 || c.ipdom[s.ID] < 0:
				case to < 0:
					to = s.ID
				default:
					to = c.intersect(to, s.ID)
				}
			}
			if to != c.ipdom[b.ID] {
				c.ipdom[b.ID], changed = to, true
			}
		}
	}
}

func (c *Control) intersect(a, b int) int {
	for a != b {
		for c.rank[a] > c.rank[b] {
			a = c.ipdom[a]
		}
		for c.rank[b] > c.rank[a] {
			b = c.ipdom[b]
		}
	}
	return a
}

// Exits reports whether the function can return after b.
func (c *Control) Exits(b *ir.Block) bool { return c.rank[b.ID] >= 0 }

// After returns the immediate postdominator of b, or nil if that is the exit or the exit is not
// reachable.
func (c *Control) After(b *ir.Block) *ir.Block {
	if i := c.ipdom[b.ID]; i >= 0 && i != c.exit {
		return c.ids[i]
	}
	return nil
}

// Deciders returns, by block ID, the blocks whose branches each block is control-dependent on.
func (c *Control) Deciders() [][]*ir.Block {
	list := make([][]*ir.Block, c.exit)
	for _, b := range c.ids {
		if b == nil || len(b.Succs) < 2 || !c.Exits(b) {
			continue
		}
		for _, s := range b.Succs {
			if c.cut(b, s) || !c.Exits(s) {
				continue
			}
			for i := s.ID; i != c.ipdom[b.ID] && i != c.exit; i = c.ipdom[i] {
				if !slices.Contains(list[i], b) {
					list[i] = append(list[i], b)
				}
			}
		}
	}
	return list
}
