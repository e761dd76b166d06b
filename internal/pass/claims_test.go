package pass

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A claim is something that an analysis says of values where they are known.
type claim struct {
	what  string
	holds func(values []datum) bool
}

// claims returns what the analyses say at p.
func (w *witness) claims(p analysis.Point) []claim {
	var list []claim
	for _, v := range w.known(p) {
		switch {
		case v.Type.IsInt():
			list = w.integer(list, v, p)
		case v.Type.IsFloat():
			list = sign(list, v)
		}
		if n := w.alignment.Of(v); n > 1 && (v.Type.IsInt() || v.Type.IsPtr()) {
			list = append(list, claim{fmt.Sprintf("%d divides %%%d", n, v.ID), func(values []datum) bool {
				return values[v.ID].bits%uint64(n) == 0
			}})
		}
	}
	return list
}

// integer appends the claims about an integer: its range, its truth if it is a condition, and its polynomial.
func (w *witness) integer(list []claim, v *ir.Value, p analysis.Point) []claim {
	if x := w.ranges.At(v, p); x != analysis.FullRange(v.Type) {
		list = append(list, claim{fmt.Sprintf("%%%d is from %d to %d", v.ID, x.Lo, x.Hi), func(values []datum) bool {
			n := number(v, values)
			return x.Lo <= n && n <= x.Hi
		}})
	}
	if v.Type.Kind == ir.KindI1 {
		return w.condition(list, v, p)
	}
	if v.Type.Kind == ir.KindI64 && v.Block == p.Block {
		list = w.polynomial(list, v, p)
	}
	return list
}

// condition appends whether c holds, and what the ranges of its operands are if it does and if it does not.
func (w *witness) condition(list []claim, c *ir.Value, p analysis.Point) []claim {
	if holds, known := w.ranges.True(c, p); known {
		list = append(list, claim{fmt.Sprintf("%%%d is %v", c.ID, holds), func(values []datum) bool {
			return (values[c.ID].bits == 1) == holds
		}})
	}
	if c.Block != p.Block {
		return list
	}
	for _, holds := range []bool{false, true} {
		fact := analysis.Fact{Cond: c, Holds: holds, Where: p}
		for _, f := range analysis.Implied(fact) {
			list = append(list, claim{fmt.Sprintf("%%%d is %v if %%%d is %v", f.Cond.ID, f.Holds, c.ID, holds), func(values []datum) bool {
				return (values[c.ID].bits == 1) != holds || (values[f.Cond.ID].bits == 1) == f.Holds
			}})
			for _, a := range f.Cond.Args {
				list = w.given(list, fact, a, p)
			}
		}
	}
	return list
}

// given appends the range of v where a fact holds.
func (w *witness) given(list []claim, fact analysis.Fact, v *ir.Value, p analysis.Point) []claim {
	if !v.Type.IsInt() {
		return list
	}
	x := w.ranges.Given(fact, v, p)
	if x == w.ranges.At(v, p) {
		return list
	}
	return append(list, claim{fmt.Sprintf("%%%d is from %d to %d if %%%d is %v", v.ID, x.Lo, x.Hi, fact.Cond.ID, fact.Holds), func(values []datum) bool {
		n := number(v, values)
		return (values[fact.Cond.ID].bits == 1) != fact.Holds || x.Lo <= n && n <= x.Hi
	}})
}

// polynomial appends that v equals its polynomial, and is in the polynomial's range.
func (w *witness) polynomial(list []claim, v *ir.Value, p analysis.Point) []claim {
	q, ok := analysis.NewPolynomial(v)
	if !ok {
		return list
	}
	list = append(list, claim{fmt.Sprintf("%%%d is its polynomial", v.ID), func(values []datum) bool {
		sum := int64(0)
		for factors, times := range q.Terms() {
			for _, f := range factors {
				times *= number(f, values)
			}
			sum += times
		}
		return sum == number(v, values)
	}})
	x, ok := q.Range(w.ranges, p)
	if !ok {
		return list
	}
	return append(list, claim{fmt.Sprintf("the polynomial of %%%d is from %d to %d", v.ID, x.Lo, x.Hi), func(values []datum) bool {
		n := number(v, values)
		return x.Lo <= n && n <= x.Hi
	}})
}

// sign appends the signs that a float may have.
func sign(list []claim, v *ir.Value) []claim {
	s := analysis.SignsOf(v)
	if s.Below && s.Above {
		return list
	}
	return append(list, claim{fmt.Sprintf("%%%d may be below 0: %v, above: %v", v.ID, s.Below, s.Above), func(values []datum) bool {
		x := toFloat(v.Type, values[v.ID].bits)
		return (s.Below || !(x < 0)) && (s.Above || !(x > 0))
	}})
}
