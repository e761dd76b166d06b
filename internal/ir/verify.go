package ir

import (
	"errors"
	"fmt"
)

// Verify reports every way in which f breaks the rules of the IR: operations with the
// wrong arguments or types, uses that their definition does not dominate, edges that do not
// match, phis or terminators out of place. Blocks that the entry does not reach are allowed.
func Verify(f *Func) error { return new(Verifier).Verify(f) }

// A Verifier verifies functions one after the other in the same space: most of what a build with checks after every
// pass allocates would otherwise be for those. The zero value is ready for use.
type Verifier struct {
	dom   Dom
	where []int32
}

// Verify does what the function Verify does.
func (r *Verifier) Verify(f *Func) error {
	if len(f.Blocks) == 0 {
		return fmt.Errorf("%s: has no blocks", f.Name)
	}
	r.where = cleared(r.where, f.NumValues())
	c := &checker{f: f, where: r.where, dom: &r.dom}
	c.params()
	for _, b := range f.Blocks {
		c.edges(b)
		for i, v := range b.Values {
			c.place(b, i, v)
		}
		if b.Launch && len(c.errs) == 0 {
			c.launchBlock(b)
		}
	}
	if len(c.errs) == 0 { // uses cannot be judged in a broken graph
		c.dom.compute(f)
		for _, b := range f.Blocks {
			if c.dom.Rank(b) < 0 {
				continue
			}
			for i, v := range b.Values {
				c.uses(i, v)
			}
		}
	}
	return errors.Join(c.errs...)
}

type checker struct {
	f   *Func
	dom *Dom
	// where says by ID where a value stands: 1 is the first place of its block, -1 the first parameter, 0 nowhere.
	where []int32
	errs  []error
}

// stand notes where v stands.
func (c *checker) stand(v *Value, at int32) {
	if v.ID < 0 || v.ID >= len(c.where) {
		c.fail(v, "has an ID that the function does not know")
		return
	}
	switch {
	case c.where[v.ID] == 0:
	case c.times(v) > 1:
		c.fail(v, "stands in two places")
	default:
		c.fail(v, "has the ID of another value")
	}
	c.where[v.ID] = at
}

// times counts how often v stands anywhere.
func (c *checker) times(v *Value) int {
	n := 0
	for _, p := range c.f.Params {
		if p == v {
			n++
		}
	}
	for _, b := range c.f.Blocks {
		for _, w := range b.Values {
			if w == v {
				n++
			}
		}
	}
	return n
}

// find returns where v stands, if it does: its place in its block, or less than 0 for a parameter.
func (c *checker) find(v *Value) (index int, ok bool) {
	if v.ID < 0 || v.ID >= len(c.where) {
		return 0, false
	}
	switch at := int(c.where[v.ID]); {
	case at > 0:
		return at - 1, v.Block != nil && at <= len(v.Block.Values) && v.Block.Values[at-1] == v
	case at < 0:
		return at, c.f.Params[-at-1] == v
	}
	return 0, false
}

func (c *checker) fail(v *Value, format string, args ...any) {
	place := "?"
	if v.Block != nil {
		place = fmt.Sprintf("b%d", v.Block.ID)
	}
	c.errs = append(c.errs, fmt.Errorf("%s: %s: %%%d = %s: %s", c.f.Name, place, v.ID, v.Op, fmt.Sprintf(format, args...)))
}

func (c *checker) failBlock(b *Block, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s: b%d: %s", c.f.Name, b.ID, fmt.Sprintf(format, args...)))
}

func (c *checker) params() {
	for i, p := range c.f.Params {
		c.stand(p, -1-int32(i))
		if p.Op != OpParam {
			c.fail(p, "is no parameter")
		}
		if c.f.Kernel && !p.Type.IsScalar() {
			c.fail(p, "a kernel's parameter has type %v", p.Type)
		}
	}
}

// edges checks that predecessors and successors agree.
func (c *checker) edges(b *Block) {
	if b == c.f.Blocks[0] && len(b.Preds) > 0 {
		c.failBlock(b, "the entry has predecessors")
	}
	for i, s := range b.Succs {
		if count(s.Preds, b) != 1 {
			c.failBlock(b, "is %d times among the predecessors of b%d", count(s.Preds, b), s.ID)
		}
		for _, t := range b.Succs[:i] {
			if s == t {
				c.failBlock(b, "goes to b%d twice", s.ID)
			}
		}
	}
	for _, p := range b.Preds {
		if count(p.Succs, b) != 1 {
			c.failBlock(b, "is %d times among the successors of b%d", count(p.Succs, b), p.ID)
		}
	}
	if t := b.Term(); t == nil {
		c.failBlock(b, "does not end with a terminator")
	} else if len(b.Succs) != ways(t.Op) {
		c.failBlock(b, "has %d successors after %s", len(b.Succs), t.Op)
	}
}

// ways returns how many successors a block has that ends with op.
func ways(op Op) int {
	switch op {
	case OpJump:
		return 1
	case OpIf:
		return 2
	}
	return 0
}

func count(blocks []*Block, b *Block) int {
	n := 0
	for _, x := range blocks {
		if x == b {
			n++
		}
	}
	return n
}

// place checks v by itself and its position in b.
func (c *checker) place(b *Block, i int, v *Value) {
	c.stand(v, int32(i)+1)
	if v.Op <= OpParam || v.Op >= numOps {
		c.fail(v, "stands in a block")
		return
	}
	if v.Block != b {
		c.fail(v, "stands in b%d", b.ID)
		return
	}
	if v.Op.Terminator() && i != len(b.Values)-1 {
		c.fail(v, "is not the last in its block")
	}
	if v.Op == OpPhi && i > 0 && b.Values[i-1].Op != OpPhi {
		c.fail(v, "stands after other values")
	}
	row := ops[v.Op]
	if set := v.Lanes(); set != nil {
		if set.Type.Kind != KindI32 {
			c.fail(v, "has a set of lanes of type %v", set.Type)
			return
		}
	} else if row.nargs >= 0 && len(v.Args) != row.nargs {
		c.fail(v, "has %d arguments, wants %d", len(v.Args), row.nargs)
		return
	}
	if !c.auxFits(v, row.attr) {
		c.fail(v, "carries %T", v.Aux)
		return
	}
	if problem := row.rule(v); problem != "" {
		c.fail(v, "%s", problem)
	}
}

func (c *checker) auxFits(v *Value, a attr) bool {
	var ok bool
	switch a {
	case attrType:
		_, ok = v.Aux.(*Type)
	case attrVar:
		_, ok = v.Aux.(*Variable)
	case attrFunc:
		_, ok = v.Aux.(*Func)
	case attrSite:
		_, ok = v.Aux.(*Site)
	default:
		ok = v.Aux == nil
	}
	return ok
}

// uses checks that the definitions of the arguments of v, number i of its block, dominate it, or for a phi the end of
// the predecessor.
func (c *checker) uses(i int, v *Value) {
	for k, a := range v.Args {
		at, known := c.find(a)
		switch {
		case !known:
			c.fail(v, "uses %%%d (%s), which stands nowhere", a.ID, a.Op)
		case at < 0:
		case a.Block.Launch && a.Block != v.Block && a != a.Block.Values[len(a.Block.Values)-2]:
			c.fail(v, "uses %%%d, which only the launcher computes", a.ID)
		case v.Op == OpPhi:
			if p := v.Block.Preds[k]; c.dom.Rank(p) >= 0 && !c.dom.Dominates(a.Block, p) {
				c.fail(v, "uses %%%d, which does not reach the end of b%d", a.ID, p.ID)
			}
		case a.Block == v.Block:
			if at >= i {
				c.fail(v, "uses %%%d before it is defined", a.ID)
			}
		case !c.dom.Dominates(a.Block, v.Block):
			c.fail(v, "uses %%%d of b%d, which does not dominate it", a.ID, a.Block.ID)
		}
	}
}
