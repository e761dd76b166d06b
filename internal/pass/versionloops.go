package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	maxVersioned = 150     // values of a loop that is copied; in a larger one checks cost little
	maxTerms     = 1 << 31 // what factors are below, so that products cannot overflow
	minVersioned = 3       // iterations of a loop that is copied, if an array that it indexes limits them: the test costs as much as a few checks
	maxParts     = 64      // sums and products that an index is made of, each as often as it is used
)

// versionLoops copies innermost loops with checks. A test before the loop decides whether all
// indices that are linear in the induction variable are in range in the first and the last
// iteration, or all those in the middle of an interval that the loop halves. If so, the loop runs without those checks;
// otherwise the copy, which has them, runs and finds the fault.
func versionLoops(f *ir.Func, o *Options) {
	addPreheaders(f)
	dom := ir.Dominators(f)
	ranges := analysis.NewRanges(dom)
	nest := analysis.Loops(dom)
	var plans []*loopVersioner
	for _, l := range nest {
		v := &loopVersioner{loop: l, ranges: ranges}
		if isInnermost(nest, l) && size(l) <= maxVersioned && !hasConvergent(l) && (v.counter() && v.collect() || v.search()) {
			plans = append(plans, v)
		}
	}
	for _, v := range plans {
		note(v.loop, ir.LoopVersioned, 0)
		v.apply()
	}
	if len(plans) > 0 {
		mem2reg(f, o)
		simplifyCFG(f, o)
	}
}

// hasConvergent reports whether the loop has an operation at which threads wait for each other.
// Threads of a block could take different copies of the loop, and would wait at different barriers.
func hasConvergent(l *analysis.Loop) bool {
	for _, b := range l.Blocks {
		if slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op.Convergent() }) {
			return true
		}
	}
	return false
}

// isInnermost reports whether no loop of nest is inside l.
func isInnermost(nest []*analysis.Loop, l *analysis.Loop) bool {
	return !slices.ContainsFunc(nest, func(m *analysis.Loop) bool { return m.Parent == l })
}

// A loopVersioner handles one loop with the induction variable iv, which runs from start in steps of more
// than zero while it is below bound.
type loopVersioner struct {
	loop             *analysis.Loop
	ranges           *analysis.Ranges
	entry            *ir.Block // the preheader
	iv, start, bound *ir.Value
	step             int64 // 0 if it is not constant
	checks           []*ir.Value
	factors          []*ir.Value // invariants that the counter is multiplied with
	scale            int64       // the largest constant that it is multiplied with
	parts            int         // that the index at hand may still have
	halves           bool        // the loop halves an interval from start to bound
}

// counter recognises the loop's induction variable.
func (v *loopVersioner) counter() bool {
	l := v.loop
	v.entry = l.Preheader()
	if v.entry == nil || len(l.Latches) != 1 {
		return false
	}
	latch := l.Latches[0]
	t := latch.Term()
	if t.Op != ir.OpIf || latch.Succs[0] != l.Header {
		return false
	}
	c := t.Args[0]
	if c.Op != ir.OpSLt || c.Args[0].Op != ir.OpAdd || !v.invariant(c.Args[1]) || c.Args[0].Type.Bits() != 64 {
		return false
	}
	v.bound = c.Args[1]
	for _, phi := range l.Header.Phis() {
		start, next := phiArgs(l, phi)
		if next == c.Args[0] && start != nil {
			v.iv, v.start = phi, start
			return v.grows(next)
		}
	}
	return false
}

// maxCounter bounds the induction variable, by the test before the loop, and its step, so that
// their sum does not overflow.
const maxCounter = 1 << 61

// grows reports whether next is the induction variable plus something positive.
func (v *loopVersioner) grows(next *ir.Value) bool {
	for i, a := range next.Args {
		if a != v.iv {
			continue
		}
		step := next.Args[1-i]
		s := v.ranges.At(step, v.ranges.Facts.PointOf(next))
		v.step, _ = intConst(step)
		return v.invariant(step) && s.Lo > 0 && s.Hi <= maxCounter
	}
	return false
}

func (v *loopVersioner) invariant(x *ir.Value) bool {
	return x.Block == nil || !v.loop.Contains(x.Block)
}

// collect gathers the checks that the test before the loop can replace.
func (v *loopVersioner) collect() bool {
	for _, b := range v.loop.Blocks {
		for i, c := range b.Values {
			if c.Op != ir.OpCheck || c.Args[0].Op != ir.OpULt {
				continue
			}
			index, length := c.Args[0].Args[0], c.Args[0].Args[1]
			at := v.ranges.At(length, analysis.Point{Block: b, Index: i})
			if index.Type.Bits() != 64 || !v.invariant(length) || at.Lo < 0 {
				continue
			}
			factors, scale := len(v.factors), v.scale
			v.parts = maxParts
			if k, ok := v.coefficient(index); !ok || k == 0 && len(v.factors) == factors {
				v.factors, v.scale = v.factors[:factors], scale
				continue
			}
			v.checks = append(v.checks, c)
		}
	}
	return len(v.checks) > 0 && !slices.ContainsFunc(v.checks, v.limits)
}

// limits reports whether a check ends the loop, which counts from zero or more, after fewer than minVersioned iterations.
func (v *loopVersioner) limits(check *ir.Value) bool {
	c := check.Args[0]
	length, ok := intConst(c.Args[1])
	return ok && c.Args[0] == v.iv && v.step > 0 && length <= (minVersioned-1)*v.step
}

// coefficient returns the factor of the induction variable in x, which is linear in it: 0 if there
// is none, or if the factor is an invariant, which joins v.factors.
func (v *loopVersioner) coefficient(x *ir.Value) (int64, bool) {
	if v.parts--; v.parts < 0 {
		return 0, false
	}
	k, ok := v.terms(x)
	if ok && (k > maxTerms || k < -maxTerms) {
		return 0, false
	}
	v.scale = max(v.scale, k, -k)
	return k, ok
}

func (v *loopVersioner) terms(x *ir.Value) (int64, bool) {
	switch {
	case v.invariant(x):
		return 0, true
	case x == v.iv:
		return 1, true
	case x.Op == ir.OpAdd || x.Op == ir.OpSub:
		return v.sum(x)
	case x.Op == ir.OpMul:
		return v.product(x)
	case x.Op == ir.OpShl && isConst(x.Args[1]) && x.Args[1].Imm >= 0 && x.Args[1].Imm < 31:
		k, ok := v.coefficient(x.Args[0])
		return k << x.Args[1].Imm, ok && k != 0
	}
	return 0, false
}

// sum handles a+b and a-b. Only one of them may contain an invariant factor.
func (v *loopVersioner) sum(x *ir.Value) (int64, bool) {
	n := len(v.factors)
	a, ok1 := v.coefficient(x.Args[0])
	b, ok2 := v.coefficient(x.Args[1])
	if !ok1 || !ok2 || len(v.factors) > n && (a != 0 || b != 0 || len(v.factors) > n+1) {
		return 0, false
	}
	if x.Op == ir.OpSub {
		b = -b
	}
	return a + b, true
}

func (v *loopVersioner) product(x *ir.Value) (int64, bool) {
	for i, a := range x.Args {
		other := x.Args[1-i]
		c, isNumber := intConst(other)
		if !v.invariant(other) || v.invariant(a) {
			continue
		}
		n := len(v.factors)
		k, ok := v.coefficient(a)
		switch {
		case !ok || len(v.factors) > n:
			return 0, false
		case isNumber && c > -maxTerms && c < maxTerms:
			return k * c, true
		case k == 1:
			v.factors = append(v.factors, other)
			return 0, true
		}
	}
	return 0, false
}

// apply makes the two loops and the test that chooses between them.
func (v *loopVersioner) apply() {
	test := v.test
	if v.halves {
		test = v.testSearch
	}
	ok := atEnd(v.entry, test)
	demoteLiveOuts(v.loop)
	slow := v.entry.Func.NewBlock()
	slow.Append(ir.OpJump, ir.Void)
	for _, b := range copyWhole(v.loop, v.entry, slow) {
		b.Cold = true
	}
	setTerm(v.entry, ir.OpIf, ok)
	v.entry.AddEdge(slow)
	for _, b := range v.loop.Blocks {
		b.Values = slices.DeleteFunc(b.Values, func(x *ir.Value) bool { return slices.Contains(v.checks, x) })
	}
}

// test computes whether all checks pass in all iterations. From the first iteration to the last,
// an index moves by at most scale times, or a factor times, the trip count; where that is below
// 1<<63 and both ends are in range, nothing wraps in between.
func (v *loopVersioner) test(e *editor) *ir.Value {
	one := e.constant(ir.I64, 1)
	last := e.make(ir.OpSub, ir.I64, v.bound, one)
	below := e.make(ir.OpSLt, ir.I1, v.start, v.bound)
	last = e.make(ir.OpSelect, ir.I64, below, last, v.start)
	way := e.make(ir.OpSub, ir.I64, last, v.start)
	ok := e.make(ir.OpULt, ir.I1, way, e.constant(ir.I64, maxTerms))
	ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpSLt, ir.I1, last, e.constant(ir.I64, maxCounter)))
	for _, x := range v.factors {
		ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpULt, ir.I1, x, e.constant(ir.I64, maxTerms)))
	}
	for _, c := range v.checks {
		index, length := c.Args[0].Args[0], c.Args[0].Args[1]
		for _, end := range []*ir.Value{v.start, last} {
			at := v.with(e, index, end)
			ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpULt, ir.I1, at, length))
		}
	}
	return ok
}

// with computes x for the given value of the induction variable.
func (v *loopVersioner) with(e *editor, x, counter *ir.Value) *ir.Value {
	switch {
	case x == v.iv:
		return counter
	case v.invariant(x):
		return x
	}
	args := make([]*ir.Value, len(x.Args))
	for i, a := range x.Args {
		args[i] = v.with(e, a, counter)
	}
	return e.makeImm(x.Op, x.Type, x.Imm, args...)
}
