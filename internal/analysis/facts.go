package analysis

import (
	"iter"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A Place is a point in a function: in front of value Index of Block, or at the end of the
// block where Index is its number of values.
type Place struct {
	Block *ir.Block
	Index int
}

// End returns the place behind all values of b.
func End(b *ir.Block) Place { return Place{b, len(b.Values)} }

// A Fact is a condition whose truth is known wherever Where dominates: a branch was taken or
// a check was passed.
type Fact struct {
	Cond  *ir.Value // i1
	Holds bool
	Where Place
}

// Facts are the facts of a function by the values that their conditions compare.
type Facts struct {
	dom     *ir.Dom
	about   chains  // by value ID: comparisons with the value as an argument
	itself  chains  // by value ID: the condition is the value
	indices []int32 // by value ID: the value's index in its block
}

// chains are lists of facts by value ID. Most are empty.
type chains struct {
	ends  []struct{ first, last int32 } // of the list, counted from 1; 0 where it is empty
	links []link
}

type link struct {
	fact Fact
	next int32
}

func (c *chains) add(id int, f Fact) {
	c.links = append(c.links, link{fact: f})
	n := int32(len(c.links))
	if e := &c.ends[id]; e.first == 0 {
		e.first, e.last = n, n
	} else {
		c.links[e.last-1].next, e.last = n, n
	}
}

// of yields the list of a value, in the order that it was added.
func (c *chains) of(id int) iter.Seq[Fact] {
	return func(yield func(Fact) bool) {
		for n := c.ends[id].first; n > 0; n = c.links[n-1].next {
			if !yield(c.links[n-1].fact) {
				return
			}
		}
	}
}

// NewFacts gathers the facts of the function that dom belongs to.
func NewFacts(dom *ir.Dom) *Facts {
	f := dom.Order()[0].Func
	n := f.NumValues()
	t := &Facts{dom: dom, indices: make([]int32, n)}
	t.about.ends, t.itself.ends = make([]struct{ first, last int32 }, n), make([]struct{ first, last int32 }, n)
	for _, b := range dom.Order() {
		if c, holds, ok := Branch(b); ok {
			t.add(Fact{c, holds, Place{b, 0}})
		}
		for i, v := range b.Values {
			t.indices[v.ID] = int32(i)
			if v.Op == ir.OpCheck {
				t.add(Fact{v.Args[0], true, Place{b, i + 1}})
			}
		}
	}
	return t
}

// Branch returns the condition under which b is entered, where it has one predecessor, and
// whether it must hold.
func Branch(b *ir.Block) (cond *ir.Value, holds, ok bool) {
	if len(b.Preds) != 1 {
		return nil, false, false
	}
	return edge(b.Preds[0], b)
}

// edge returns the condition under which p goes on to b.
func edge(p, b *ir.Block) (cond *ir.Value, holds, ok bool) {
	t := p.Term()
	if t.Op != ir.OpIf {
		return nil, false, false
	}
	return t.Args[0], p.Succs[0] == b, true
}

// add notes a fact, and those that follow from it.
func (t *Facts) add(f Fact) {
	for _, g := range Implied(f) {
		t.itself.add(g.Cond.ID, g)
		if isCompare(g.Cond.Op) {
			for i, a := range g.Cond.Args {
				if i == 0 || a != g.Cond.Args[0] {
					t.about.add(a.ID, g)
				}
			}
		}
	}
}

// Implied returns f and what its parts say where it is a conjunction that holds, a
// disjunction that does not, or a negation.
func Implied(f Fact) []Fact {
	list := []Fact{f}
	for i := 0; i < len(list); i++ {
		c, holds := list[i].Cond, list[i].Holds
		switch {
		case c.Op == ir.OpAnd && holds, c.Op == ir.OpOr && !holds:
			list = append(list, Fact{c.Args[0], holds, f.Where}, Fact{c.Args[1], holds, f.Where})
		case c.Op == ir.OpXor && c.Args[1].Op == ir.OpConst:
			list = append(list, Fact{c.Args[0], holds != (c.Args[1].Imm&1 == 1), f.Where})
		}
	}
	return list
}

// isCompare reports whether the operation compares integers.
func isCompare(op ir.Op) bool { return op >= ir.OpEq && op <= ir.OpULe }

// Reaches reports whether every path to place p passes q.
func (t *Facts) Reaches(q, p Place) bool {
	if q.Block == p.Block {
		return q.Index <= p.Index
	}
	return t.dom.Dominates(q.Block, p.Block)
}

// PlaceOf returns the place of v.
func (t *Facts) PlaceOf(v *ir.Value) Place { return Place{v.Block, int(t.indices[v.ID])} }

// About yields the facts that hold at p and compare v.
func (t *Facts) About(v *ir.Value, p Place) iter.Seq[Fact] {
	return func(yield func(Fact) bool) {
		if p.Block == nil {
			return
		}
		for f := range t.about.of(v.ID) {
			if t.Reaches(f.Where, p) && !yield(f) {
				return
			}
		}
	}
}

// Truth returns what facts say about the condition c itself at p.
func (t *Facts) Truth(c *ir.Value, p Place) (holds, known bool) {
	for f := range t.itself.of(c.ID) {
		if t.Reaches(f.Where, p) {
			return f.Holds, true
		}
	}
	return false, false
}
