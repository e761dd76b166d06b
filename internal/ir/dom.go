package ir

import "slices"

// Dom is the dominator tree of a function, over the blocks that the entry reaches.
type Dom struct {
	order []*Block  // reverse postorder
	nodes []domNode // of the blocks in order
	// place says by block ID where a block stands in order, counted from 1: 0 if the entry does not reach it. Most IDs of
	// a function may be those of blocks that are gone, so that this is all that there is by ID.
	place []int32
}

// domNode is what is known of a block.
type domNode struct {
	idom int32 // place in order, counted from 1; 0 as long as it is not known
	// The block's numbers in a walk over the tree: those of the blocks that it dominates lie from first to last.
	first, last int32
	next        int32 // first free number after those of the block and of its children so far
}

// Dominators computes the dominator tree after Cooper, Harvey and Kennedy, "A Simple, Fast
// Dominance Algorithm".
func Dominators(f *Func) *Dom {
	d := &Dom{}
	d.compute(f)
	return d
}

// compute makes d the tree of f, in the space that d has.
func (d *Dom) compute(f *Func) {
	d.number(f)
	d.nodes = cleared(d.nodes, len(d.order))
	d.nodes[0].idom = 1
	for changed := true; changed; {
		changed = false
		for i, b := range d.order[1:] {
			idom := int32(0)
			for _, p := range b.Preds {
				switch at := d.place[p.ID]; {
				case at == 0 || d.nodes[at-1].idom == 0:
				case idom == 0:
					idom = at
				default:
					idom = d.intersect(at, idom)
				}
			}
			if n := &d.nodes[i+1]; n.idom != idom {
				n.idom, changed = idom, true
			}
		}
	}
	d.measure()
}

// cleared returns n zeros, in the space of list where that is enough.
func cleared[T any](list []T, n int) []T {
	if n > cap(list) {
		return make([]T, n)
	}
	list = list[:n]
	clear(list)
	return list
}

// measure sets first and last. Every block is after its dominators in order, so that sizes of subtrees add up
// backwards, and places in the walk forwards.
func (d *Dom) measure() {
	for i := len(d.nodes) - 1; i >= 0; i-- {
		n := &d.nodes[i]
		n.last++ // the size, for now
		if i > 0 {
			d.nodes[n.idom-1].last += n.last
		}
	}
	for i := range d.nodes {
		n := &d.nodes[i]
		if i > 0 {
			parent := &d.nodes[n.idom-1]
			n.first = parent.next
			parent.next += n.last
		}
		n.last += n.first - 1
		n.next = n.first + 1
	}
}

// number fills in order and place by a depth-first walk without recursion. While a block is on the stack, or was, its
// place is -1 minus the number of its successors that have been looked at.
func (d *Dom) number(f *Func) {
	d.place = cleared(d.place, f.NumBlocks())
	d.order = slices.Grow(d.order[:0], len(f.Blocks))
	stack := append(make([]*Block, 0, 64), f.Blocks[0])
	d.place[f.Blocks[0].ID] = -1
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		next := -1 - d.place[b.ID]
		if int(next) == len(b.Succs) {
			d.order = append(d.order, b)
			stack = stack[:len(stack)-1]
			continue
		}
		d.place[b.ID]--
		if s := b.Succs[next]; d.place[s.ID] == 0 {
			d.place[s.ID] = -1
			stack = append(stack, s)
		}
	}
	slices.Reverse(d.order)
	for i, b := range d.order {
		d.place[b.ID] = int32(i) + 1
	}
}

// intersect returns the closest common dominator of a and b, all by their places.
func (d *Dom) intersect(a, b int32) int32 {
	for a != b {
		for a > b {
			a = d.nodes[a-1].idom
		}
		for b > a {
			b = d.nodes[b-1].idom
		}
	}
	return a
}

// Order returns the reachable blocks in reverse postorder.
func (d *Dom) Order() []*Block { return d.order }

// Rank returns the index of b in Order, or -1 if b is unreachable.
func (d *Dom) Rank(b *Block) int { return int(d.place[b.ID]) - 1 }

// Place returns the number of b, which is reachable, in a walk over the tree: those of the blocks that it dominates
// follow it.
func (d *Dom) Place(b *Block) int { return int(d.nodes[d.Rank(b)].first) }

// Idom returns the immediate dominator of b; nil for the entry.
func (d *Dom) Idom(b *Block) *Block {
	i := d.Rank(b)
	if i <= 0 {
		return nil
	}
	return d.order[d.nodes[i].idom-1]
}

// Dominates reports whether every path from the entry to b passes through a.
func (d *Dom) Dominates(a, b *Block) bool {
	i, k := d.Rank(a), d.Rank(b)
	if a == b || i < 0 || k < 0 { // nothing dominates what is not reached but itself
		return a == b
	}
	x, y := &d.nodes[i], d.nodes[k].first
	return x.first <= y && y <= x.last
}
