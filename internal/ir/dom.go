package ir

import "slices"

// Dom is the dominator tree of a function, over the blocks that the entry reaches.
type Dom struct {
	order []*Block // reverse postorder
	rank  []int    // by block ID: place in order; -1 where the entry does not reach the block
	idom  []*Block // by block ID
	span  []span   // by block ID
}

// span holds a block's numbers in a walk over the tree: those of the blocks that it dominates lie in it.
type span struct{ first, last int32 }

// Dominators computes the dominator tree after Cooper, Harvey and Kennedy, "A Simple, Fast
// Dominance Algorithm".
func Dominators(f *Func) *Dom {
	d := &Dom{rank: make([]int, f.NumBlocks()), idom: make([]*Block, f.NumBlocks())}
	d.number(f)
	entry := f.Blocks[0]
	d.idom[entry.ID] = entry
	for changed := true; changed; {
		changed = false
		for _, b := range d.order[1:] {
			var idom *Block
			for _, p := range b.Preds {
				switch {
				case d.rank[p.ID] < 0 || d.idom[p.ID] == nil:
				case idom == nil:
					idom = p
				default:
					idom = d.meet(p, idom)
				}
			}
			if d.idom[b.ID] != idom {
				d.idom[b.ID], changed = idom, true
			}
		}
	}
	d.measure()
	return d
}

// measure sets the spans. Every block stands behind its dominators in order, so that sizes of subtrees add up
// backwards, and places in the walk forwards.
func (d *Dom) measure() {
	d.span = slices.Repeat([]span{{-1, -2}}, len(d.idom)) // which nothing dominates
	size := make([]int32, len(d.idom))
	for i := len(d.order) - 1; i >= 0; i-- {
		b := d.order[i]
		size[b.ID]++
		if i > 0 {
			size[d.idom[b.ID].ID] += size[b.ID]
		}
	}
	next := make([]int32, len(d.idom)) // free place in the span of a block
	for i, b := range d.order {
		first := int32(0)
		if i > 0 {
			parent := d.idom[b.ID].ID
			first = next[parent]
			next[parent] += size[b.ID]
		}
		d.span[b.ID] = span{first, first + size[b.ID] - 1}
		next[b.ID] = first + 1
	}
}

// number fills in order and rank by a depth-first walk without recursion.
func (d *Dom) number(f *Func) {
	for i := range d.rank {
		d.rank[i] = -1
	}
	type visit struct {
		block *Block
		next  int
	}
	seen := make([]bool, f.NumBlocks())
	d.order = make([]*Block, 0, len(f.Blocks))
	stack := make([]visit, 1, 64)
	stack[0].block = f.Blocks[0]
	seen[f.Blocks[0].ID] = true
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(top.block.Succs) {
			d.order = append(d.order, top.block)
			stack = stack[:len(stack)-1]
			continue
		}
		s := top.block.Succs[top.next]
		top.next++
		if !seen[s.ID] {
			seen[s.ID] = true
			stack = append(stack, visit{block: s})
		}
	}
	for i, j := 0, len(d.order)-1; i < j; i, j = i+1, j-1 {
		d.order[i], d.order[j] = d.order[j], d.order[i]
	}
	for i, b := range d.order {
		d.rank[b.ID] = i
	}
}

// meet returns the closest common dominator of a and b.
func (d *Dom) meet(a, b *Block) *Block {
	for a != b {
		for d.rank[a.ID] > d.rank[b.ID] {
			a = d.idom[a.ID]
		}
		for d.rank[b.ID] > d.rank[a.ID] {
			b = d.idom[b.ID]
		}
	}
	return a
}

// Order returns the reachable blocks in reverse postorder.
func (d *Dom) Order() []*Block { return d.order }

// Rank returns the place of b in Order, or -1 where the entry does not reach b.
func (d *Dom) Rank(b *Block) int { return d.rank[b.ID] }

// Idom returns the immediate dominator of b; nil for the entry.
func (d *Dom) Idom(b *Block) *Block {
	if d.rank[b.ID] <= 0 {
		return nil
	}
	return d.idom[b.ID]
}

// Dominates reports whether every path from the entry to b passes a.
func (d *Dom) Dominates(a, b *Block) bool {
	x, y := d.span[a.ID], d.span[b.ID].first
	return a == b || x.first <= y && y <= x.last
}
