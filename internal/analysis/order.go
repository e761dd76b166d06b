package analysis

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Limits of the work of one proof, and of the conjunctions and disjunctions in each other that a condition is followed into:
// there are twice as many ways with each.
const (
	maxSteps     = 200
	maxJunctions = 8
)

// True returns whether the ranges and facts imply that the condition c holds or does not hold at p.
// It decides comparisons by ranges, and by sums of differences along definitions and facts (after
// Bodik, Gupta and Sarkar, "ABCD: Eliminating Array Bounds Checks on Demand").
func (r *Ranges) True(c *ir.Value, p Point) (holds, known bool) { return r.truth(c, p, maxJunctions) }

func (r *Ranges) truth(c *ir.Value, p Point, junctions int) (holds, known bool) {
	if c.Op == ir.OpConst {
		return c.Imm&1 == 1, true
	}
	if holds, known := r.Facts.Truth(c, p); known {
		return holds, true
	}
	switch c.Op {
	case ir.OpAnd, ir.OpOr:
		if junctions == 0 {
			return false, false
		}
		return r.junction(c, p, junctions-1)
	case ir.OpXor:
		if k := c.Args[1]; k.Op == ir.OpConst {
			holds, known = r.truth(c.Args[0], p, junctions)
			return holds != (k.Imm&1 == 1), known
		}
	}
	if !isCompare(c.Op) || !c.Args[0].Type.IsInt() || c.Args[0].Type.Bits() == 1 {
		return false, false
	}
	return r.compare(c.Op, c.Args[0], c.Args[1], p)
}

// junction decides a conjunction or disjunction of conditions.
func (r *Ranges) junction(c *ir.Value, p Point, junctions int) (holds, known bool) {
	x, okx := r.truth(c.Args[0], p, junctions)
	y, oky := r.truth(c.Args[1], p, junctions)
	deciding := c.Op == ir.OpOr // the value of one side that settles it
	switch {
	case okx && x == deciding, oky && y == deciding:
		return deciding, true
	}
	return !deciding, okx && oky
}

func (r *Ranges) compare(op ir.Op, x, y *ir.Value, p Point) (holds, known bool) {
	switch op {
	case ir.OpSLt:
		return r.either(r.AtMost(x, y, -1, p), r.AtMost(y, x, 0, p))
	case ir.OpSLe:
		return r.either(r.AtMost(x, y, 0, p), r.AtMost(y, x, -1, p))
	case ir.OpULt:
		return r.either(r.below(x, y, -1, p), r.below(y, x, 0, p))
	case ir.OpULe:
		return r.either(r.below(x, y, 0, p), r.below(y, x, -1, p))
	}
	a, b := r.At(x, p), r.At(y, p)
	same := a.Lo == a.Hi && a == b
	different := a.intersect(b).Empty() || r.AtMost(x, y, -1, p) || r.AtMost(y, x, -1, p)
	if op == ir.OpNe {
		same, different = different, same
	}
	return r.either(same, different)
}

func (r *Ranges) either(yes, no bool) (holds, known bool) { return yes, yes || no }

// AtMost reports whether x <= y+c is proved at p, for signed numbers without overflow.
func (r *Ranges) AtMost(x, y *ir.Value, c int64, p Point) bool {
	q := &prover{r: r, target: y, steps: maxSteps}
	return q.le(x, c, p)
}

// below reports whether x <= y+c (c is 0 or -1), read without sign, is proved at p.
func (r *Ranges) below(x, y *ir.Value, c int64, p Point) bool {
	if !r.notNegative(x, p) {
		return false
	}
	if r.AtMost(x, y, c, p) { // y is not below x, so not negative either
		return true
	}
	for o := range r.Facts.ordered(r.Facts.of(y).below, p) { // x <= z and z < y, without sign
		if o.unsigned && o.d <= c && r.AtMost(x, o.other, 0, p) {
			return true
		}
	}
	return false
}

// notNegative reports whether x >= 0 is proved at p.
func (r *Ranges) notNegative(x *ir.Value, p Point) bool {
	if r.At(x, p).Lo >= 0 {
		return true
	}
	if x.Op != ir.OpSub {
		return false
	}
	a, b := r.At(x.Args[0], p), r.At(x.Args[1], p)
	diff, ok := a.sub(b)
	return ok && diff.Within(FullRange(x.Type)) && r.AtMost(x.Args[1], x.Args[0], 0, p)
}

// A prover shows that values are at most target plus a constant.
type prover struct {
	r      *Ranges
	target *ir.Value
	steps  int
	open   []bound // phis whose proof is under way
}

type bound struct {
	v *ir.Value
	c int64
}

// le reports whether x <= target+c at p.
func (q *prover) le(x *ir.Value, c int64, p Point) bool {
	if q.steps--; q.steps < 0 {
		return false
	}
	if x == q.target && c >= 0 {
		return true
	}
	a, b := q.r.At(x, p), q.r.At(q.target, p)
	if limit, ok := addExact(b.Lo, c); ok && a.Hi <= limit {
		return true
	}
	if x.Op == ir.OpConst {
		return q.viaTarget(x, c, p)
	}
	return q.byFact(x, c, p) || q.byDefinition(x, c, p) || q.viaTarget(x, c, p)
}

// byFact uses the facts x <= z+d.
func (q *prover) byFact(x *ir.Value, c int64, p Point) bool {
	for o := range q.r.Facts.ordered(q.r.Facts.of(x).above, p) {
		if rest, fits := subExact(c, o.d); q.r.signed(o, o.other, p) && fits && q.le(o.other, rest, p) {
			return true
		}
	}
	return false
}

// signed reports whether an order holds of signed numbers, too: where the higher one is not negative.
func (r *Ranges) signed(o *order, higher *ir.Value, p Point) bool {
	return !o.unsigned || r.At(higher, p).NonNegative()
}

func subExact(x, y int64) (int64, bool) {
	if y == math.MinInt64 {
		return 0, false
	}
	return addExact(x, -y)
}

// byDefinition uses how x is computed.
func (q *prover) byDefinition(x *ir.Value, c int64, p Point) bool {
	switch x.Op {
	case ir.OpAdd:
		return q.sum(x, c, p)
	case ir.OpSub:
		a, b := q.r.At(x.Args[0], p), q.r.At(x.Args[1], p)
		if diff, ok := a.sub(b); ok && diff.Within(FullRange(x.Type)) {
			rest, fits := addExact(c, b.Lo)
			return fits && q.le(x.Args[0], rest, p)
		}
	case ir.OpAnd:
		for _, a := range x.Args {
			if q.r.At(a, p).Lo >= 0 && q.le(a, c, p) {
				return true
			}
		}
	case ir.OpMul, ir.OpShl:
		return q.multiple(x, c, p)
	case ir.OpLShr, ir.OpAShr:
		return q.r.At(x.Args[0], p).Lo >= 0 && q.le(x.Args[0], c, p)
	case ir.OpSDiv, ir.OpSRem, ir.OpUDiv, ir.OpURem:
		return q.division(x, c, p)
	case ir.OpSExt:
		return x.Args[0].Type.Bits() > 1 && q.le(x.Args[0], c, p)
	case ir.OpZExt:
		return q.r.At(x.Args[0], p).Lo >= 0 && q.le(x.Args[0], c, p)
	case ir.OpSelect:
		return q.le(x.Args[1], c, p) && q.le(x.Args[2], c, p)
	case ir.OpPhi:
		return q.phi(x, c)
	}
	return false
}

// multiple uses that y <= z/n + d says k*y <= z + k*d, for 0 < k <= n and z >= 0: a loop over the
// groups of k elements that a slice has stays within it.
func (q *prover) multiple(x *ir.Value, c int64, p Point) bool {
	y, k, ok := scaled(x)
	if r, fits := q.r.At(y, p).mul(Range{k, k}); !ok || !fits || !r.Within(FullRange(x.Type)) {
		return false
	}
	for o := range q.r.Facts.ordered(q.r.Facts.of(y).above, p) {
		if !q.r.signed(o, o.other, p) {
			continue
		}
		n, of := divided(o.other)
		less, fits := mulExact(k, o.d)
		rest, fits2 := subExact(c, less)
		if n >= k && fits && fits2 && q.r.At(of, p).Lo >= 0 && q.le(of, rest, p) {
			return true
		}
	}
	return false
}

// scaled returns y and k where x is k*y, k > 0.
func scaled(x *ir.Value) (y *ir.Value, k int64, ok bool) {
	if x.Args[1].Op != ir.OpConst || x.Op == ir.OpShl && uint64(x.Args[1].Imm) > 31 {
		return x.Args[0], 1, false
	}
	k = factor(x.Op, x.Args[1].Imm)
	return x.Args[0], k, k > 0
}

// divided returns n and z where x is z/n, n > 0; n is 0 if it is not a quotient.
func divided(x *ir.Value) (n int64, z *ir.Value) {
	if len(x.Args) != 2 || x.Args[1].Op != ir.OpConst {
		return 0, nil
	}
	c := x.Args[1].Imm
	switch {
	case (x.Op == ir.OpSDiv || x.Op == ir.OpUDiv) && c > 0:
		return c, x.Args[0]
	case (x.Op == ir.OpLShr || x.Op == ir.OpAShr) && c >= 0 && c < 32:
		return 1 << c, x.Args[0]
	}
	return 0, nil
}

// division uses that a quotient or rest is at most the dividend, and a rest less than the
// divisor, where they are not negative.
func (q *prover) division(x *ir.Value, c int64, p Point) bool {
	if q.r.At(x.Args[1], p).Lo <= 0 {
		return false
	}
	rest, fits := addExact(c, 1)
	if (x.Op == ir.OpSRem || x.Op == ir.OpURem) && fits && q.le(x.Args[1], rest, p) {
		return true
	}
	return q.r.At(x.Args[0], p).Lo >= 0 && q.le(x.Args[0], c, p)
}

// sum uses x = a+b where that does not wrap: x <= a + the largest b.
func (q *prover) sum(x *ir.Value, c int64, p Point) bool {
	a, b := q.r.At(x.Args[0], p), q.r.At(x.Args[1], p)
	if s, ok := a.add(b); !ok || !s.Within(FullRange(x.Type)) {
		return false
	}
	for i, other := range []Range{b, a} {
		rest, fits := subExact(c, other.Hi)
		if fits && q.le(x.Args[i], rest, p) {
			return true
		}
	}
	return false
}

// phi proves the bound for every argument, assuming it for the phi itself: the target must
// not change meanwhile, so it has to be defined before the phi.
func (q *prover) phi(x *ir.Value, c int64) bool {
	for _, o := range q.open {
		if o.v == x {
			return c >= o.c
		}
	}
	if t := q.target; t.Block == x.Block || t.Block != nil && !q.r.Facts.dom.Dominates(t.Block, x.Block) {
		return false
	}
	q.open = append(q.open, bound{x, c})
	defer func() { q.open = q.open[:len(q.open)-1] }()
	for i, a := range x.Args {
		if !q.le(a, c, End(x.Block.Preds[i])) {
			return false
		}
	}
	return true
}

// viaTarget uses how the target is computed: x <= z+c-d where z+d <= target.
func (q *prover) viaTarget(x *ir.Value, c int64, p Point) bool {
	t := q.target
	for o := range q.r.Facts.ordered(q.r.Facts.of(t).below, p) {
		if rest, fits := subExact(c, o.d); q.r.signed(o, t, p) && fits && q.from(o.other, x, rest, p) {
			return true
		}
	}
	if t.Op == ir.OpSub {
		return q.beforeDifference(x, c, p)
	}
	if t.Op != ir.OpAdd {
		return false
	}
	a, b := q.r.At(t.Args[0], p), q.r.At(t.Args[1], p)
	if s, ok := a.add(b); !ok || !s.Within(FullRange(t.Type)) {
		return false
	}
	for i, other := range []Range{b, a} {
		rest, fits := addExact(c, other.Lo)
		if fits && q.from(t.Args[i], x, rest, p) {
			return true
		}
	}
	return false
}

// beforeDifference proves x <= a-b+c, where a-b is the target, as b <= a + c - the largest x.
func (q *prover) beforeDifference(x *ir.Value, c int64, p Point) bool {
	a, b := q.target.Args[0], q.target.Args[1]
	diff, ok := q.r.At(a, p).sub(q.r.At(b, p))
	rest, fits := subExact(c, q.r.At(x, p).Hi)
	return ok && diff.Within(FullRange(q.target.Type)) && fits && q.from(a, b, rest, p)
}

// from proves x <= z+c, where z takes the target's place.
func (q *prover) from(z, x *ir.Value, c int64, p Point) bool {
	if len(q.open) > 0 { // the assumptions are about the old target
		return false
	}
	sub := &prover{r: q.r, target: z, steps: q.steps}
	ok := sub.le(x, c, p)
	q.steps = sub.steps
	return ok
}
