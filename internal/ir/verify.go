package ir

import (
	"errors"
	"fmt"
)

// Verify reports every way in which f breaks the rules of the IR: operations with the
// wrong arguments or types, uses that their definition does not dominate, edges that do not
// match, phis or terminators out of place. Blocks that the entry does not reach are allowed.
func Verify(f *Func) error {
	if len(f.Blocks) == 0 {
		return fmt.Errorf("%s: has no blocks", f.Name)
	}
	c := &checker{f: f, where: make([]position, f.NumValues())}
	c.params()
	for _, b := range f.Blocks {
		c.edges(b)
		for i, v := range b.Values {
			c.place(b, i, v)
		}
	}
	if len(c.errs) == 0 { // uses cannot be judged in a broken graph
		c.dom = Dominators(f)
		for _, b := range f.Blocks {
			for _, v := range b.Values {
				c.uses(v)
			}
		}
	}
	return errors.Join(c.errs...)
}

type checker struct {
	f     *Func
	dom   *Dom
	where []position // by ID
	errs  []error
}

// position is where a value stands. It is kept by ID, since most of what a build does with a map by value
// would be to verify.
type position struct {
	value *Value
	index int // in the block; -1 for parameters
}

// stand notes where v stands.
func (c *checker) stand(v *Value, index int) {
	if v.ID < 0 || v.ID >= len(c.where) {
		c.fail(v, "has an ID that the function does not know")
		return
	}
	switch c.where[v.ID].value {
	case nil:
	case v:
		c.fail(v, "stands in two places")
	default:
		c.fail(v, "has the ID of another value")
	}
	c.where[v.ID] = position{v, index}
}

// find returns where v stands, if it does.
func (c *checker) find(v *Value) (index int, ok bool) {
	if v.ID < 0 || v.ID >= len(c.where) || c.where[v.ID].value != v {
		return 0, false
	}
	return c.where[v.ID].index, true
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
	for _, p := range c.f.Params {
		c.stand(p, -1)
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
	succs := map[Op]int{OpJump: 1, OpIf: 2}
	if t := b.Term(); t == nil {
		c.failBlock(b, "does not end with a terminator")
	} else if len(b.Succs) != succs[t.Op] {
		c.failBlock(b, "has %d successors behind %s", len(b.Succs), t.Op)
	}
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
	c.stand(v, i)
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
		c.fail(v, "stands behind other values")
	}
	row := ops[v.Op]
	if row.nargs >= 0 && len(v.Args) != row.nargs {
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

// uses checks that the definitions of v's arguments dominate it, or for a phi the end of
// the predecessor.
func (c *checker) uses(v *Value) {
	if c.dom.Rank(v.Block) < 0 {
		return
	}
	for i, a := range v.Args {
		at, known := c.find(a)
		switch {
		case !known:
			c.fail(v, "uses %%%d (%s), which stands nowhere", a.ID, a.Op)
		case at < 0:
		case v.Op == OpPhi:
			if p := v.Block.Preds[i]; c.dom.Rank(p) >= 0 && !c.dom.Dominates(a.Block, p) {
				c.fail(v, "uses %%%d, which does not reach the end of b%d", a.ID, p.ID)
			}
		case a.Block == v.Block:
			if at >= c.where[v.ID].index {
				c.fail(v, "uses %%%d before it is defined", a.ID)
			}
		case !c.dom.Dominates(a.Block, v.Block):
			c.fail(v, "uses %%%d of b%d, which does not dominate it", a.ID, a.Block.ID)
		}
	}
}
