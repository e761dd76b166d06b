package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// demand sees to it that v, which is launched, is not below a number: the test before the kernel has to find that out
// where the ranges do not. It returns false where v is always below.
func (b *bounder) demand(v *ir.Value, least int64, at analysis.Point) bool {
	r := b.rangeOf(v, at)
	if r.Lo < least && r.Hi >= least {
		b.least[v] = least
	}
	return r.Hi >= least
}

// demandAll sees to it that no factor of p is negative.
func (b *bounder) demandAll(p analysis.Polynomial, at analysis.Point) bool {
	for factors := range p.Terms() {
		if slices.ContainsFunc(factors, func(v *ir.Value) bool { return !b.demand(v, 0, at) }) {
			return false
		}
	}
	return true
}

// clamp returns a launched number that v does not exceed, and that v is not negative without, or nil: v is
// min(max(x, 0), n), or max(min(x, n), 0).
func (b *bounder) clamp(v *ir.Value, at analysis.Point) *ir.Value {
	if x, limit := smaller(v); limit != nil {
		if b.at(x, at).Lo >= 0 {
			return limit
		}
		return nil
	}
	if v.Op != ir.OpSelect || v.Type.Kind != ir.KindI64 || !isMaximum(v) {
		return nil
	}
	for i, a := range v.Args[1:] {
		if c, ok := intConst(a); ok && c == 0 {
			_, limit := smaller(v.Args[2-i])
			return limit
		}
	}
	return nil
}

// smaller returns the arguments of a minimum, the second of which is launched; nil if v is none.
func smaller(v *ir.Value) (x, limit *ir.Value) {
	if v.Op != ir.OpSelect || v.Type.Kind != ir.KindI64 {
		return nil, nil
	}
	c, x, y := v.Args[0], v.Args[1], v.Args[2]
	if c.Op != ir.OpSLt && c.Op != ir.OpSLe || c.Args[0] != x || c.Args[1] != y {
		return nil, nil
	}
	switch {
	case launched(x, maxDepth) && !isConst(x):
		return y, x
	case launched(y, maxDepth) && !isConst(y):
		return x, y
	}
	return nil, nil
}

// isMaximum reports whether the select returns the larger of two numbers.
func isMaximum(v *ir.Value) bool {
	c := v.Args[0]
	return (c.Op == ir.OpSLt || c.Op == ir.OpSLe) && c.Args[0] == v.Args[2] && c.Args[1] == v.Args[1]
}

// clamped returns the most or the least of a number that is clamped between zero and a limit, which must not be
// negative: n-1 is not if n is at least 1.
func (b *bounder) clamped(limit *ir.Value, at analysis.Point, most bool) (analysis.Polynomial, bool) {
	p := b.exact(limit, at)
	v, off := shifted(p)
	if v == nil {
		p, v, off = analysis.Whole(limit), limit, 0
	}
	if !b.demand(v, -off, at) {
		return p, false
	}
	if !most {
		return analysis.Constant(0), true
	}
	return p, true
}

// shifted returns the value and the constant that p is the sum of; nil if it is no such sum.
func shifted(p analysis.Polynomial) (v *ir.Value, off int64) {
	for factors, times := range p.Terms() {
		switch {
		case len(factors) == 0:
			off = times
		case len(factors) > 1 || times != 1 || v != nil:
			return nil, 0
		default:
			v = factors[0]
		}
	}
	return v, off
}
