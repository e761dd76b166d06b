package pass

import (
	"math"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// maxCounter bounds a counter of 64 bits, by the test before the loop, and its step, so that
// their sum does not overflow.
const maxCounter = 1 << 61

// A loopCounter is the induction variable that a loop's limit is about. If a loop ends where two of them meet, it is their
// difference, which falls to 0, and Induction is the lower one.
type loopCounter struct {
	analysis.Limit
	high   *analysis.Induction // the higher one of two that meet, or nil
	falls  bool                // the counter falls by step in every iteration
	step   int64               // more than 0; 0 if it is not constant: it is Step then
	proved bool                // Step is known to be more than 0 and at most maxCounter
	exact  bool                // indices contain Step, which is not constant: the exact last value is worth a division
	signs  bool                // an index extends the counter, of less than 64 bits, with sign, and the loop compares it without, or the reverse
}

// recognise reports whether the counter reaches its limit. Its Step is in the given range.
func (c *loopCounter) recognise(step analysis.Range) bool {
	k, constant := analysis.IntConst(c.Step)
	switch {
	case constant && (k == 0 || k > maxCounter || k < -maxCounter):
		return false
	case constant:
		c.step, c.falls = max(k, -k), (k < 0) != c.Falls
	case !c.long(): // threads that share the elements of a slice mostly count so, and have a few each: a check costs less than a test
		return false
	default:
		c.falls, c.proved = c.Falls, step.Lo > 0 && step.Hi <= maxCounter
	}
	switch c.Op {
	case ir.OpSLt, ir.OpSLe, ir.OpULt, ir.OpULe:
		return c.Above == c.falls && (constant || step.Hi > 0)
	case ir.OpNe:
		return constant
	}
	return false
}

// interleaves reports whether the pass interleave takes loops of one block with such a counter: of 32 bits, up
// to a bound.
func (c *loopCounter) interleaves() bool {
	return c.Phi.Type.Bits() == 32 && !c.Above && (c.Op == ir.OpSLt || c.Op == ir.OpULt)
}

// recogniseMeeting reports whether two induction variables come nearer in steps that are constant and small.
func (c *loopCounter) recogniseMeeting() bool {
	distance := func(i analysis.Induction) int64 {
		k, ok := analysis.IntConst(i.Step)
		if i.Falls {
			k = -k
		}
		if !ok || i.Start == nil || i.Phi.Type.Bits() != 64 || k >= maxTerms || k <= -maxTerms {
			return 0
		}
		return k
	}
	up, down := distance(c.Induction), -distance(*c.high)
	c.step, c.falls = up+down, true
	return up > 0 && down > 0
}

// is reports whether x is the counter, in 64 bits.
func (c *loopCounter) is(x *ir.Value) bool {
	switch {
	case c.high != nil:
		return false
	case c.long():
		return x == c.Phi
	}
	return (x.Op == ir.OpSExt || x.Op == ir.OpZExt) && x.Type.Bits() == 64 && x.Args[0] == c.Phi
}

// use notes that an index contains x, which is the counter.
func (c *loopCounter) use(x *ir.Value) {
	c.signs = c.signs || !c.long() && x.Op != c.extension()
}

// add notes that an index contains an invariant.
func (c *loopCounter) add(x *ir.Value) {
	c.exact = c.exact || c.step == 0 && reaches(x, c.Step, 2)
}

// reaches reports whether x is y or is computed from it, by at most depth operations.
func reaches(x, y *ir.Value, depth int) bool {
	if x == y {
		return true
	}
	for _, a := range x.Args {
		if depth > 0 && x.Op != ir.OpPhi && reaches(a, y, depth-1) {
			return true
		}
	}
	return false
}

func (c *loopCounter) long() bool { return c.Phi.Type.Bits() == 64 }

// signed returns what a counter of less than 64 bits is below if it has a sign.
func (c *loopCounter) signed() int64 { return 1 << (c.Phi.Type.Bits() - 1) }

// unsigned reports whether the comparison reads the counter without sign.
func (c *loopCounter) unsigned() bool { return c.Op == ir.OpULt || c.Op == ir.OpULe }

// strict reports whether the counter stays away from its bound.
func (c *loopCounter) strict() bool { return c.Op == ir.OpSLt || c.Op == ir.OpULt || c.Op == ir.OpNe }

// extension returns the operation that extends a counter of less than 64 bits as the comparison reads it.
func (c *loopCounter) extension() ir.Op {
	if c.unsigned() {
		return ir.OpZExt
	}
	return ir.OpSExt
}

func (c *loopCounter) extend(e *editor, x *ir.Value) *ir.Value {
	if c.long() {
		return x
	}
	return e.make(c.extension(), ir.I64, x)
}

// A moment is an iteration: the value of the counter, in 64 bits, and the number of iterations before, which is nil if it is 0 or not
// needed.
type moment struct{ counter, before *ir.Value }

// A course computes how a counter runs, before its loop.
type course struct {
	*loopCounter
	e            *editor
	start, bound *ir.Value // in 64 bits
}

func newCourse(c *loopCounter, e *editor) *course {
	if c.high != nil {
		return &course{loopCounter: c, e: e, start: e.make(ir.OpSub, ir.I64, c.high.Start, c.Start), bound: e.constant(ir.I64, 0)}
	}
	return &course{loopCounter: c, e: e, start: c.extend(e, c.Start), bound: c.extend(e, c.Bound)}
}

// ends computes the first and the last iteration, and whether the counter runs from one to the other, by less than maxTerms, and
// without overflow. Only in that case is the last one correct.
func (c *loopCounter) ends(e *editor) (first, last moment, ok *ir.Value) {
	x := newCourse(c, e)
	inside, end := x.edge()
	way := x.distance(end, x.start)
	ok = e.make(ir.OpULt, ir.I1, way, e.constant(ir.I64, maxTerms))
	last = x.last(way, end)
	if c.step == 1 && c.strict() && (c.Op == ir.OpNe || c.falls || !c.long()) {
		ok = x.and(ok, inside) // so that the counter reaches its bound
	} else {
		ok = x.and(ok, x.fits(last.counter))
	}
	if c.high != nil {
		ok = x.and(x.and(ok, inside), x.meet(last.before))
	}
	if c.Op == ir.OpNe && c.step > 1 {
		ok = x.and(ok, inside)
		ok = x.and(ok, e.make(ir.OpEq, ir.I1, x.move(last.counter, x.by()), x.bound))
	}
	if c.step == 0 && !c.proved {
		less := e.make(ir.OpSub, ir.I64, x.by(), e.constant(ir.I64, 1))
		ok = x.and(ok, e.make(ir.OpULt, ir.I1, less, e.constant(ir.I64, maxCounter)))
	}
	low, high := x.start, last.counter
	if c.falls {
		low, high = high, low
	}
	if c.unsigned() && c.long() { // so that signed comparisons do
		ok = x.and(ok, x.atLeastZero(low))
		ok = x.and(ok, x.atLeastZero(x.bound))
	}
	if c.signs {
		ok = x.and(ok, x.atLeastZero(low))
		ok = x.and(ok, e.make(ir.OpSLt, ir.I1, high, e.constant(ir.I64, c.signed())))
	}
	return moment{counter: x.start}, last, ok
}

// by computes how far the counter moves in an iteration.
func (x *course) by() *ir.Value {
	if x.step > 0 {
		return x.e.constant(ir.I64, x.step)
	}
	return x.extend(x.e, x.Step)
}

func (x *course) and(ok, more *ir.Value) *ir.Value {
	return x.e.make(ir.OpAnd, ir.I1, ok, more)
}

func (x *course) atLeastZero(v *ir.Value) *ir.Value {
	return x.e.make(ir.OpSLe, ir.I1, x.e.constant(ir.I64, 0), v)
}

// edge computes whether the start is within the bound, and the number nearest to the bound that is, or else the start.
func (x *course) edge() (inside, end *ir.Value) {
	less, from, to := ir.OpSLe, x.start, x.bound
	if x.falls {
		from, to = to, from
	}
	end = x.bound
	if x.strict() {
		less = ir.OpSLt
		one := x.e.constant(ir.I64, 1)
		if x.falls {
			end = x.e.make(ir.OpAdd, ir.I64, x.bound, one)
		} else {
			end = x.e.make(ir.OpSub, ir.I64, x.bound, one)
		}
	}
	inside = x.e.make(less, ir.I1, from, to)
	return inside, x.e.make(ir.OpSelect, ir.I64, inside, end, x.start)
}

// distance computes the distance from one number to a later one, which has no sign, so that it does not overflow.
func (x *course) distance(to, from *ir.Value) *ir.Value {
	if x.falls {
		to, from = from, to
	}
	return x.e.make(ir.OpSub, ir.I64, to, from)
}

// move computes the counter after a way.
func (x *course) move(from, way *ir.Value) *ir.Value {
	if x.falls {
		return x.e.make(ir.OpSub, ir.I64, from, way)
	}
	return x.e.make(ir.OpAdd, ir.I64, from, way)
}

// last computes the last iteration, from the distance of the end. The result is correct only for a distance below maxTerms.
func (x *course) last(way, end *ir.Value) moment {
	e := x.e
	switch {
	case x.step == 0 && !x.exact:
		return moment{counter: end} // or less, which is in range, too, if the end is
	case x.step == 1:
		return moment{end, way}
	}
	before := x.divide(way)
	if k := x.step; k&(k-1) == 0 && k > 0 {
		return moment{x.move(x.start, e.make(ir.OpAnd, ir.I64, way, e.constant(ir.I64, -k))), before}
	}
	return moment{x.move(x.start, e.make(ir.OpMul, ir.I64, before, x.by())), before}
}

// divide computes how many steps a way has.
func (x *course) divide(way *ir.Value) *ir.Value {
	e, k := x.e, x.step
	if k > 0 && k&(k-1) == 0 {
		return e.make(ir.OpLShr, ir.I64, way, e.constant(ir.I32, int64(bits.TrailingZeros64(uint64(k)))))
	}
	if k >= maxTerms {
		return e.constant(ir.I64, 0)
	}
	short := e.constant(ir.I32, k)
	if k == 0 { // a step above maxTerms is as good as maxTerms, and a step of 0 is not divided by
		short = e.make(ir.OpTrunc, ir.I32, x.by())
		less := e.make(ir.OpSub, ir.I64, x.by(), e.constant(ir.I64, 1))
		small := e.make(ir.OpULt, ir.I1, less, e.constant(ir.I64, maxTerms))
		short = e.make(ir.OpSelect, ir.I32, small, short, e.constant(ir.I32, math.MinInt32))
	}
	return e.make(ir.OpZExt, ir.I64, e.make(ir.OpUDiv, ir.I32, e.make(ir.OpTrunc, ir.I32, way), short))
}

// fits computes whether the counter can pass its last value without overflow.
func (x *course) fits(last *ir.Value) *ir.Value {
	e := x.e
	switch {
	case x.long() && !x.falls:
		return e.make(ir.OpSLt, ir.I1, last, e.constant(ir.I64, maxCounter))
	case !x.falls:
		beyond := x.signed()
		if x.unsigned() {
			beyond *= 2
		}
		return e.make(ir.OpSLt, ir.I1, x.move(last, x.by()), e.constant(ir.I64, beyond))
	case x.unsigned():
		return x.atLeastZero(x.move(last, x.by()))
	case x.long():
		return e.make(ir.OpSLt, ir.I1, e.constant(ir.I64, -maxCounter), last)
	}
	return e.make(ir.OpSLe, ir.I1, e.constant(ir.I64, -x.signed()), x.move(last, x.by()))
}

// meet computes whether both induction variables can pass their last values without overflow. If so, and if the difference of their
// first values is positive, that difference has not overflowed.
func (x *course) meet(before *ir.Value) *ir.Value {
	e := x.e
	low, high := after(e, x.Induction, before), after(e, *x.high, before)
	ok := e.make(ir.OpSLt, ir.I1, low, e.constant(ir.I64, maxCounter))
	return x.and(ok, e.make(ir.OpSLt, ir.I1, e.constant(ir.I64, -maxCounter), high))
}

// after computes an induction variable after a number of iterations.
func after(e *editor, i analysis.Induction, before *ir.Value) *ir.Value {
	op := ir.OpAdd
	if i.Falls {
		op = ir.OpSub
	}
	return e.make(op, ir.I64, i.Start, e.make(ir.OpMul, ir.I64, before, i.Step))
}
