package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// add adds a block.
func (g *graph) add(b block) int {
	g.blocks = append(g.blocks, b)
	return len(g.blocks) - 1
}

// plain adds a block without code.
func (g *graph) plain(tail func(*translator), next ...int) int {
	return g.add(block{guard: ptx.Guard{Reg: -1}, tail: tail, next: next})
}

// replace makes the edges to one block lead to another.
func (g *graph) replace(old, to int) {
	for i := range g.blocks {
		for k, n := range g.blocks[i].next {
			if n == old {
				g.blocks[i].next[k] = to
			}
		}
	}
}

// barrier reports whether the block is a barrier, or an operation of warps that has become one.
func (b *block) barrier() bool { return b.meeting }

// clone returns a copy of the graph, which can be edited.
func (g *graph) clone() *graph {
	c := *g
	c.blocks, c.order = slices.Clone(g.blocks), slices.Clone(g.order)
	for i := range c.blocks {
		c.blocks[i].next = slices.Clone(c.blocks[i].next)
	}
	return &c
}

// emptyFirst gives the kernel an empty first block, to which no control returns.
func (g *graph) emptyFirst() error {
	first := g.add(g.blocks[0])
	g.replace(0, first)
	g.blocks[0] = block{guard: ptx.Guard{Reg: -1}, next: []int{first}}
	return g.analyze()
}
