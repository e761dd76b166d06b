package analysis

import (
	"cmp"
	"iter"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A Point is a position in a function: before Block.Values[Index], or at the end of the block if
// Index is len(Block.Values).
type Point struct {
	Block *ir.Block
	Index int
}

// End returns the point after all values of b.
func End(b *ir.Block) Point { return Point{b, len(b.Values)} }

// A Fact is a condition whose truth is known at all points that Where dominates, because of a
// branch or a check.
type Fact struct {
	Cond  *ir.Value // i1
	Holds bool
	Where Point
}

// Facts are the facts of a function, indexed by the values that their conditions compare.
type Facts struct {
	dom     *ir.Dom
	indices []int32 // by value ID: the value's index in its block
	slots   []int32 // by value ID: the value's place in lists, counted from 1; 0 if nothing is known of it
	lists   []lists
	facts   []link[Fact]
	orders  []link[order]
	chains  map[list]*chain // of the long lists in orders that were asked for
	implied []Fact          // what add works with
}

// lists are those of a value.
type lists struct {
	about  list // comparisons with the value as an argument, in facts
	itself list // the condition is the value, in facts
	above  list // what it is at most, in orders
	below  list // what is at most it, in orders
}

// list is one of several in a slice of links, by the indices of its ends counted from 1.
type list struct{ first, last, length int32 }

type link[T any] struct {
	what T
	next int32
}

// order says that a value is at most another one and d: without sign, or with.
type order struct {
	other    *ir.Value
	d        int64
	unsigned bool
	where    Point
}

// push adds to a list.
func push[T any](links []link[T], l *list, what T) []link[T] {
	links = append(links, link[T]{what: what})
	n := int32(len(links))
	if l.first == 0 {
		l.first = n
	} else {
		links[l.last-1].next = n
	}
	l.last = n
	l.length++
	return links
}

// of returns the lists of a value, to read.
func (t *Facts) of(v *ir.Value) lists {
	if n := t.slots[v.ID]; n > 0 {
		return t.lists[n-1]
	}
	return lists{}
}

// grow returns the lists of a value, to add to.
func (t *Facts) grow(v *ir.Value) *lists {
	if t.slots[v.ID] == 0 {
		t.lists = append(t.lists, lists{})
		t.slots[v.ID] = int32(len(t.lists))
	}
	return &t.lists[t.slots[v.ID]-1]
}

// NewFacts gathers the facts of the function that dom belongs to.
func NewFacts(dom *ir.Dom) *Facts {
	f := dom.Order()[0].Func
	n := f.NumValues()
	t := &Facts{dom: dom, indices: make([]int32, n), slots: make([]int32, n)}
	for _, b := range dom.Order() {
		if c, holds, ok := Branch(b); ok {
			t.add(Fact{c, holds, Point{b, 0}})
		}
		for i, v := range b.Values {
			t.indices[v.ID] = int32(i)
			if v.Op == ir.OpCheck {
				t.add(Fact{v.Args[0], true, Point{b, i + 1}})
			}
		}
	}
	return t
}

// Branch returns the condition under which b is entered, and whether that condition must be true or
// false. It reports false if b does not have exactly one predecessor that ends in a conditional
// branch.
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
	t.implied = appendImplied(t.implied[:0], f)
	for _, g := range t.implied {
		t.facts = push(t.facts, &t.grow(g.Cond).itself, g)
		if !isCompare(g.Cond.Op) {
			continue
		}
		for i, a := range g.Cond.Args {
			if i == 0 || a != g.Cond.Args[0] {
				t.facts = push(t.facts, &t.grow(a).about, g)
			}
		}
		t.addOrder(g)
	}
}

// addOrder notes what a comparison says of the order of its arguments.
func (t *Facts) addOrder(f Fact) {
	op, a, b := f.Cond.Op, f.Cond.Args[0], f.Cond.Args[1]
	if !f.Holds {
		op, _ = negate(op, true)
		if op != ir.OpEq && op != ir.OpNe {
			a, b = b, a
		}
	}
	if a == b || !a.Type.IsInt() || op == ir.OpNe {
		return
	}
	o := order{unsigned: op == ir.OpULt || op == ir.OpULe, where: f.Where}
	if op == ir.OpSLt || op == ir.OpULt {
		o.d = -1
	}
	t.pushOrder(a, b, o)
	if op == ir.OpEq {
		t.pushOrder(b, a, o)
	}
}

func (t *Facts) pushOrder(low, high *ir.Value, o order) {
	o.other = high
	t.orders = push(t.orders, &t.grow(low).above, o)
	o.other = low
	t.orders = push(t.orders, &t.grow(high).below, o)
}

// Implied returns f and the facts that follow from it: those about the operands of a conjunction
// that holds, of a disjunction that does not hold, or of a negation.
func Implied(f Fact) []Fact { return appendImplied(nil, f) }

// appendImplied appends what Implied returns to a list that is empty.
func appendImplied(list []Fact, f Fact) []Fact {
	list = append(list, f)
	for i := 0; i < len(list); i++ {
		c, holds := list[i].Cond, list[i].Holds
		switch {
		case c.Op == ir.OpAnd && holds, c.Op == ir.OpOr && !holds:
			list = appendNew(list, Fact{c.Args[0], holds, f.Where})
			list = appendNew(list, Fact{c.Args[1], holds, f.Where})
		case c.Op == ir.OpXor && c.Args[1].Op == ir.OpConst:
			list = appendNew(list, Fact{c.Args[0], holds != (c.Args[1].Imm&1 == 1), f.Where})
		}
	}
	return list
}

// appendNew appends f to a list that does not have it.
func appendNew(list []Fact, f Fact) []Fact {
	if slices.Contains(list, f) {
		return list
	}
	return append(list, f)
}

// isCompare reports whether the operation compares integers.
func isCompare(op ir.Op) bool { return op >= ir.OpEq && op <= ir.OpULe }

// Reaches reports whether every path to p passes through q.
func (t *Facts) Reaches(q, p Point) bool {
	if q.Block == p.Block {
		return q.Index <= p.Index
	}
	return t.dom.Dominates(q.Block, p.Block)
}

// PointOf returns the point before v.
func (t *Facts) PointOf(v *ir.Value) Point { return Point{v.Block, int(t.indices[v.ID])} }

// About yields the facts that hold at p and whose conditions compare v.
func (t *Facts) About(v *ir.Value, p Point) iter.Seq[Fact] {
	return func(yield func(Fact) bool) {
		if p.Block == nil {
			return
		}
		for n := t.of(v).about.first; n > 0; n = t.facts[n-1].next {
			if f := t.facts[n-1].what; t.Reaches(f.Where, p) && !yield(f) {
				return
			}
		}
	}
}

// ordered yields the orders of a list that hold at p.
func (t *Facts) ordered(l list, p Point) iter.Seq[*order] {
	return func(yield func(*order) bool) {
		switch {
		case p.Block == nil:
			return
		case l.length >= longList && t.dom.Rank(p.Block) >= 0:
			for _, n := range slices.Backward(t.chain(l).at(t, p)) {
				if !yield(&t.orders[n-1].what) {
					return
				}
			}
			return
		}
		for n := l.first; n > 0; n = t.orders[n-1].next {
			if o := &t.orders[n-1].what; t.Reaches(o.where, p) && !yield(o) {
				return
			}
		}
	}
}

// longList is the length from which on a list has a chain. A constant may be compared thousands of times in a function.
const longList = 32

// A chain finds the orders of a list that hold at a place without a look at the others. Those that hold at a place
// are all about blocks on the way to it in the dominator tree.
type chain struct {
	links []int32 // of the list, by their places in a walk over the dominator tree
	outer []int32 // by index in links: the last one before whose place dominates its, or -1
}

// chain returns the chain of a list, which is made once.
func (t *Facts) chain(l list) *chain {
	if c := t.chains[l]; c != nil {
		return c
	}
	c := &chain{}
	for n := l.first; n > 0; n = t.orders[n-1].next {
		c.links = append(c.links, n)
	}
	where := func(n int32) Point { return t.orders[n-1].what.where }
	slices.SortStableFunc(c.links, func(a, b int32) int { return t.comparePlaces(where(a), where(b)) })
	for i, n := range c.links {
		out := int32(i) - 1
		for out >= 0 && !t.Reaches(where(c.links[out]), where(n)) {
			out = c.outer[out]
		}
		c.outer = append(c.outer, out)
	}
	if t.chains == nil {
		t.chains = map[list]*chain{}
	}
	t.chains[l] = c
	return c
}

// at returns the links that hold at p, the last one first.
func (c *chain) at(t *Facts, p Point) []int32 {
	where := func(i int32) Point { return t.orders[c.links[i]-1].what.where }
	n, _ := slices.BinarySearchFunc(c.links, p, func(n int32, p Point) int {
		return cmp.Or(t.comparePlaces(t.orders[n-1].what.where, p), -1) // the first one after p
	})
	var list []int32
	for i := int32(n) - 1; i >= 0; i = c.outer[i] {
		if t.Reaches(where(i), p) {
			list = append(list, c.links[i])
		}
	}
	return list
}

// comparePlaces compares places in a walk over the dominator tree.
func (t *Facts) comparePlaces(p, q Point) int {
	return cmp.Or(cmp.Compare(t.dom.Place(p.Block), t.dom.Place(q.Block)), cmp.Compare(p.Index, q.Index))
}

// Truth returns whether a fact states that c holds or does not hold at p.
func (t *Facts) Truth(c *ir.Value, p Point) (holds, known bool) {
	for n := t.of(c).itself.first; n > 0; n = t.facts[n-1].next {
		if f := t.facts[n-1].what; t.Reaches(f.Where, p) {
			return f.Holds, true
		}
	}
	return false, false
}
