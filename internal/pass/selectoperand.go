package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A choice is what a branch selects, once the values of both sides are computed in one block. An operation on floats that
// both sides end with moves after the selection, so that it runs once:
//
//	%5 = ftos i64 %3                          %8 = select f64 %1, %3, %4
//	%6 = ftos i64 %4              becomes     %7 = ftos i64 %8
//	%7 = select i64 %1, %5, %6
type choice struct {
	e    *editor
	cond *ir.Value
	uses map[*ir.Value]int // of the values of the sides, which have no users elsewhere
}

// newChoice returns the choice between the values of given, one pair for each phi. The block of e has adopted the values of both
// sides.
func newChoice(e *editor, cond *ir.Value, sides []*ir.Value, given [][2]*ir.Value) *choice {
	c := &choice{e, cond, map[*ir.Value]int{}}
	for _, v := range sides {
		c.uses[v] = 0
	}
	note := func(v *ir.Value) {
		if n, inside := c.uses[v]; inside {
			c.uses[v] = n + 1
		}
	}
	for _, v := range sides {
		for _, a := range v.Args {
			note(a)
		}
	}
	for _, g := range given {
		note(g[0])
		note(g[1])
	}
	return c
}

// pick returns a value that is x if the condition holds, and y otherwise.
func (c *choice) pick(x, y *ir.Value) *ir.Value {
	switch {
	case x == y:
		return x
	case c.movable(x) && c.movable(y):
		if i := soleDifference(x, y); i >= 0 {
			c.drop(x)
			c.drop(y)
			return c.withArg(x, i, c.pick(x.Args[i], y.Args[i]))
		}
	case c.movable(x) && isZeroFor(x, y):
		c.drop(x)
		return c.withArg(x, 0, c.pick(x.Args[0], c.e.constant(x.Args[0].Type, 0)))
	case c.movable(y) && isZeroFor(y, x):
		c.drop(y)
		return c.withArg(y, 0, c.pick(c.e.constant(y.Args[0].Type, 0), y.Args[0]))
	}
	return c.e.make(ir.OpSelect, x.Type, c.cond, x, y)
}

// movable reports whether v is an operation on floats that a side computes for one use.
func (c *choice) movable(v *ir.Value) bool {
	return c.uses[v] == 1 && (v.Op >= ir.OpFAdd && v.Op <= ir.OpFCopysign || v.Op >= ir.OpSToF && v.Op <= ir.OpFRound)
}

// drop removes v, which has lost its only use.
func (c *choice) drop(v *ir.Value) {
	i := slices.Index(c.e.out, v)
	c.e.out = slices.Delete(c.e.out, i, i+1)
}

// withArg makes v with another argument i.
func (c *choice) withArg(v *ir.Value, i int, a *ir.Value) *ir.Value {
	args := slices.Clone(v.Args)
	args[i] = a
	return c.e.makeImm(v.Op, v.Type, v.Imm, args...)
}

// soleDifference returns the index of the one argument in which x and y, otherwise the same operation, differ, or -1.
func soleDifference(x, y *ir.Value) int {
	if x.Op != y.Op || x.Imm != y.Imm || !x.Type.Equal(y.Type) {
		return -1
	}
	at := -1
	for i, a := range x.Args {
		switch {
		case !a.Type.Equal(y.Args[i].Type):
			return -1
		case a == y.Args[i] || isConst(a) && isConst(y.Args[i]) && a.Imm == y.Args[i].Imm:
		case at >= 0:
			return -1
		default:
			at = i
		}
	}
	return at
}

// isZeroFor reports whether y is the integer 0, which v converts 0.0 to, from a type that is not wider.
func isZeroFor(v, y *ir.Value) bool {
	k, ok := analysis.IntConst(y)
	return ok && k == 0 && (v.Op == ir.OpFToS || v.Op == ir.OpFToU) && v.Args[0].Type.Bits() <= v.Type.Bits()
}
