package layout

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Node is a piece of code in a graph whose control flow is written as Go statements: a block of
// the IR within a region, or a whole region within the kernel.
type Node struct {
	Block *ir.Block // the block, or the region's first
	Succs []*Node   // nil if control leaves the graph
	Preds []*Node   // that are reached

	Rank int // in reverse postorder
	Idom *Node
	Kids []*Node // that it dominates immediately, by rank
	Loop *Loop   // the innermost around it
}

// Loop is a natural loop of a graph.
type Loop struct {
	Header *Node
	In     map[*Node]bool
	Parent *Loop
}

// Contains reports whether n is in the loop; nil contains all nodes.
func (l *Loop) Contains(n *Node) bool { return l == nil || l.In[n] }

// Analyse orders the graph that entry leads into and finds dominators and loops. It reports false if a
// loop has two ways in.
func Analyse(entry *Node) bool {
	order := reversePostorder(entry)
	for _, n := range order {
		for _, s := range n.Succs {
			if s != nil {
				s.Preds = append(s.Preds, n)
			}
		}
	}
	dominate(order)
	for _, n := range order[1:] {
		n.Idom.Kids = append(n.Idom.Kids, n)
	}
	return findLoops(order)
}

func reversePostorder(entry *Node) []*Node {
	var order []*Node
	seen := map[*Node]bool{}
	var visit func(n *Node)
	visit = func(n *Node) {
		seen[n] = true
		for _, s := range slices.Backward(n.Succs) { // the first successor then comes first
			if s != nil && !seen[s] {
				visit(s)
			}
		}
		order = append(order, n)
	}
	visit(entry)
	slices.Reverse(order)
	for i, n := range order {
		n.Rank = i
	}
	return order
}

// dominate finds immediate dominators, as ir.Dominators does.
func dominate(order []*Node) {
	order[0].Idom = order[0]
	for changed := true; changed; {
		changed = false
		for _, n := range order[1:] {
			var idom *Node
			for _, p := range n.Preds {
				switch {
				case p.Idom == nil:
				case idom == nil:
					idom = p
				default:
					idom = intersect(p, idom)
				}
			}
			if idom != n.Idom {
				n.Idom, changed = idom, true
			}
		}
	}
}

func intersect(a, b *Node) *Node {
	for a != b {
		if a.Rank > b.Rank {
			a = a.Idom
		} else {
			b = b.Idom
		}
	}
	return a
}

// Dominates reports whether every path to m passes n.
func (n *Node) Dominates(m *Node) bool {
	for m.Rank > n.Rank {
		m = m.Idom
	}
	return m == n
}

// Forward returns how many edges lead to n from outside of the loop that it heads.
func (n *Node) Forward() int {
	count := 0
	for _, p := range n.Preds {
		if p.Rank < n.Rank {
			count++
		}
	}
	return count
}

func findLoops(order []*Node) bool {
	var loops []*Loop
	for _, h := range order {
		l := &Loop{Header: h, In: map[*Node]bool{h: true}}
		for _, p := range h.Preds {
			if p.Rank < h.Rank {
				continue
			}
			if !h.Dominates(p) {
				return false
			}
			l.add(p)
		}
		if slices.ContainsFunc(h.Preds, func(p *Node) bool { return p.Rank >= h.Rank }) {
			loops = append(loops, l)
		}
	}
	slices.SortStableFunc(loops, func(a, b *Loop) int { return cmp.Compare(len(b.In), len(a.In)) })
	for _, l := range loops { // outer ones first
		l.Parent = l.Header.Loop
		for n := range l.In {
			n.Loop = l
		}
	}
	return true
}

// add adds n and what leads to it.
func (l *Loop) add(n *Node) {
	if !l.In[n] {
		l.In[n] = true
		for _, p := range n.Preds {
			l.add(p)
		}
	}
}

// Heads reports whether n is the header of its innermost loop.
func (n *Node) Heads() bool { return n.Loop != nil && n.Loop.Header == n }

// Followers returns the nodes after l, in the loop around it, that one of its nodes dominates
// immediately. They are written after the loop.
func (l *Loop) Followers() []*Node {
	var list []*Node
	for n := range l.In {
		for _, k := range n.Kids {
			if !l.In[k] && l.Parent.Contains(k) {
				list = append(list, k)
			}
		}
	}
	slices.SortFunc(list, func(a, b *Node) int { return cmp.Compare(a.Rank, b.Rank) })
	return list
}

// String describes a node in panics.
func (n *Node) String() string { return fmt.Sprintf("b%d", n.Block.ID) }

// Repeats reports whether the way from a block to m begins another round of a loop that n is in.
func (m *Node) Repeats(from, n *Node) bool {
	return from != nil && m.Heads() && m.Loop.In[from] && m.Loop.In[n]
}
