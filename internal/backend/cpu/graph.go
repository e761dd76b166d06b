package cpu

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// node is a piece of code in a graph whose control flow is written as Go statements: a block of
// the IR within a region, or a whole region within the kernel.
type node struct {
	block *ir.Block // the block, or the region's first
	succs []*node   // nil if control leaves the graph
	preds []*node   // that are reached

	rank int // in reverse postorder
	idom *node
	kids []*node // that it dominates immediately, by rank
	loop *loop   // the innermost around it
}

// loop is a natural loop of a graph.
type loop struct {
	header *node
	in     map[*node]bool
	parent *loop
}

func (l *loop) contains(n *node) bool { return l == nil || l.in[n] }

// analyse orders the graph that entry leads into and finds dominators and loops. It reports false if a
// loop has two ways in.
func analyse(entry *node) bool {
	order := reversePostorder(entry)
	for _, n := range order {
		for _, s := range n.succs {
			if s != nil {
				s.preds = append(s.preds, n)
			}
		}
	}
	dominate(order)
	for _, n := range order[1:] {
		n.idom.kids = append(n.idom.kids, n)
	}
	return findLoops(order)
}

func reversePostorder(entry *node) []*node {
	var order []*node
	seen := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		seen[n] = true
		for _, s := range slices.Backward(n.succs) { // the first successor then comes first
			if s != nil && !seen[s] {
				visit(s)
			}
		}
		order = append(order, n)
	}
	visit(entry)
	slices.Reverse(order)
	for i, n := range order {
		n.rank = i
	}
	return order
}

// dominate finds immediate dominators, as ir.Dominators does.
func dominate(order []*node) {
	order[0].idom = order[0]
	for changed := true; changed; {
		changed = false
		for _, n := range order[1:] {
			var idom *node
			for _, p := range n.preds {
				switch {
				case p.idom == nil:
				case idom == nil:
					idom = p
				default:
					idom = intersect(p, idom)
				}
			}
			if idom != n.idom {
				n.idom, changed = idom, true
			}
		}
	}
}

func intersect(a, b *node) *node {
	for a != b {
		if a.rank > b.rank {
			a = a.idom
		} else {
			b = b.idom
		}
	}
	return a
}

// dominates reports whether every path to m passes n.
func (n *node) dominates(m *node) bool {
	for m.rank > n.rank {
		m = m.idom
	}
	return m == n
}

// forward returns how many edges lead to n from outside of the loop that it heads.
func (n *node) forward() int {
	count := 0
	for _, p := range n.preds {
		if p.rank < n.rank {
			count++
		}
	}
	return count
}

func findLoops(order []*node) bool {
	var loops []*loop
	for _, h := range order {
		l := &loop{header: h, in: map[*node]bool{h: true}}
		for _, p := range h.preds {
			if p.rank < h.rank {
				continue
			}
			if !h.dominates(p) {
				return false
			}
			l.add(p)
		}
		if slices.ContainsFunc(h.preds, func(p *node) bool { return p.rank >= h.rank }) {
			loops = append(loops, l)
		}
	}
	slices.SortStableFunc(loops, func(a, b *loop) int { return cmp.Compare(len(b.in), len(a.in)) })
	for _, l := range loops { // outer ones first
		l.parent = l.header.loop
		for n := range l.in {
			n.loop = l
		}
	}
	return true
}

// add adds n and what leads to it.
func (l *loop) add(n *node) {
	if !l.in[n] {
		l.in[n] = true
		for _, p := range n.preds {
			l.add(p)
		}
	}
}

// heads reports whether n is the header of its innermost loop.
func (n *node) heads() bool { return n.loop != nil && n.loop.header == n }

// followers returns the nodes after l, in the loop around it, that one of its nodes dominates
// immediately. They are written after the loop.
func (l *loop) followers() []*node {
	var list []*node
	for n := range l.in {
		for _, k := range n.kids {
			if !l.in[k] && l.parent.contains(k) {
				list = append(list, k)
			}
		}
	}
	slices.SortFunc(list, func(a, b *node) int { return cmp.Compare(a.rank, b.rank) })
	return list
}

// String describes a node in panics.
func (n *node) String() string { return fmt.Sprintf("b%d", n.block.ID) }

// repeats reports whether the way from a block to m begins another round of a loop that n is in.
func (m *node) repeats(from, n *node) bool {
	return from != nil && m.heads() && m.loop.in[from] && m.loop.in[n]
}
