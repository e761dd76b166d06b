package ir

import "slices"

// Dom is the dominator tree of a function, over the blocks that the entry reaches.
type Dom struct {
	order []*Block // reverse postorder
	nodes []domNode
}

// domNode is what is known of a block, by its ID.
type domNode struct {
	idom *Block
	rank int32 // place in order; -1 where the entry does not reach the block
	// The block's numbers in a walk over the tree: those of the blocks that it dominates lie from first to last.
	first, last int32
}

// Dominators computes the dominator tree after Cooper, Harvey and Kennedy, "A Simple, Fast
// Dominance Algorithm".
func Dominators(f *Func) *Dom {
	d := &Dom{nodes: make([]domNode, f.NumBlocks())}
	d.number(f)
	entry := f.Blocks[0]
	d.nodes[entry.ID].idom = entry
	for changed := true; changed; {
		changed = false
		for _, b := range d.order[1:] {
			var idom *Block
			for _, p := range b.Preds {
				switch n := &d.nodes[p.ID]; {
				case n.rank < 0 || n.idom == nil:
				case idom == nil:
					idom = p
				default:
					idom = d.meet(p, idom)
				}
			}
			if n := &d.nodes[b.ID]; n.idom != idom {
				n.idom, changed = idom, true
			}
		}
	}
	d.measure()
	return d
}

// measure sets first and last. Every block stands behind its dominators in order, so that sizes of subtrees add up
// backwards, and places in the walk forwards.
func (d *Dom) measure() {
	for i := range d.nodes { // of what is not reached, so that nothing dominates it
		d.nodes[i].first, d.nodes[i].last = -1, -2
	}
	for _, b := range d.order {
		d.nodes[b.ID].last = 0 // the size, for now
	}
	for i := len(d.order) - 1; i >= 0; i-- {
		n := &d.nodes[d.order[i].ID]
		n.last++
		if i > 0 {
			d.nodes[n.idom.ID].last += n.last
		}
	}
	next := make([]int32, len(d.nodes)) // free place in the span of a block
	for i, b := range d.order {
		n := &d.nodes[b.ID]
		n.first = 0
		if i > 0 {
			parent := n.idom.ID
			n.first = next[parent]
			next[parent] += n.last
		}
		n.last += n.first - 1
		next[b.ID] = n.first + 1
	}
}

// number fills in order and rank by a depth-first walk without recursion.
func (d *Dom) number(f *Func) {
	const seen = -2
	for i := range d.nodes {
		d.nodes[i].rank = -1
	}
	type visit struct {
		block *Block
		next  int
	}
	d.order = make([]*Block, 0, len(f.Blocks))
	stack := make([]visit, 1, 64)
	stack[0].block = f.Blocks[0]
	d.nodes[f.Blocks[0].ID].rank = seen
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(top.block.Succs) {
			d.order = append(d.order, top.block)
			stack = stack[:len(stack)-1]
			continue
		}
		s := top.block.Succs[top.next]
		top.next++
		if n := &d.nodes[s.ID]; n.rank != seen {
			n.rank = seen
			stack = append(stack, visit{block: s})
		}
	}
	slices.Reverse(d.order)
	for i, b := range d.order {
		d.nodes[b.ID].rank = int32(i)
	}
}

// meet returns the closest common dominator of a and b.
func (d *Dom) meet(a, b *Block) *Block {
	for a != b {
		for d.nodes[a.ID].rank > d.nodes[b.ID].rank {
			a = d.nodes[a.ID].idom
		}
		for d.nodes[b.ID].rank > d.nodes[a.ID].rank {
			b = d.nodes[b.ID].idom
		}
	}
	return a
}

// Order returns the reachable blocks in reverse postorder.
func (d *Dom) Order() []*Block { return d.order }

// Rank returns the place of b in Order, or -1 where the entry does not reach b.
func (d *Dom) Rank(b *Block) int { return int(d.nodes[b.ID].rank) }

// Idom returns the immediate dominator of b; nil for the entry.
func (d *Dom) Idom(b *Block) *Block {
	if d.nodes[b.ID].rank <= 0 {
		return nil
	}
	return d.nodes[b.ID].idom
}

// Dominates reports whether every path from the entry to b passes a.
func (d *Dom) Dominates(a, b *Block) bool {
	x, y := &d.nodes[a.ID], d.nodes[b.ID].first
	return a == b || x.first <= y && y <= x.last
}
