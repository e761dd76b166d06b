package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
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
//
//	                                  b0: %8 = whether %start and %n-1 are below %length
//	b0: jump b1                           if %8 b1 b5
//	b1: %i = phi %start, %j           b1: %i = phi %start, %j
//	    check %i < %length        ->      %x = load %a + 4*%i
//	    %x = load %a + 4*%i               %j = add %i, 1
//	    %j = add %i, 1                    if %j < %n b1 b2
//	    if %j < %n b1 b2              b5 cold: a copy with the check
func versionLoops(f *ir.Func, _ *Options) (changed bool) {
	edit.AddPreheaders(f)
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
	return len(plans) > 0
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

// maxCounter bounds the induction variable, by the test before the loop, and its step, so that
// their sum does not overflow.
const maxCounter = 1 << 61

// counter recognises the loop's induction variable.
func (v *loopVersioner) counter() bool {
	v.entry = v.loop.Preheader()
	c, ok := v.loop.Counter()
	if v.entry == nil || !ok || c.Less.Op != ir.OpSLt || c.Next.Type.Bits() != 64 || c.Start == nil {
		return false
	}
	v.iv, v.start, v.bound = c.Phi, c.Start, c.Bound
	v.step, _ = analysis.IntConst(c.Step)
	s := v.ranges.At(c.Step, v.ranges.Facts.PointOf(c.Next))
	return s.Lo > 0 && s.Hi <= maxCounter
}

func (v *loopVersioner) invariant(x *ir.Value) bool { return v.loop.Invariant(x) }

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
	length, ok := analysis.IntConst(c.Args[1])
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
		c, isNumber := analysis.IntConst(other)
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
	edit.DemoteLiveOuts(v.loop)
	slow := v.entry.Func.NewBlock()
	slow.Append(ir.OpJump, ir.Void)
	for _, b := range edit.CopyWhole(v.loop, v.entry, slow) {
		b.Cold = true
	}
	edit.SetTerm(v.entry, ir.OpIf, ok)
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
	for _, c := range outermost(v.checks) {
		index, length := c.Args[0].Args[0], c.Args[0].Args[1]
		for _, end := range []*ir.Value{v.start, last} {
			at := v.with(e, index, end)
			ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpULt, ir.I1, at, length))
		}
	}
	return ok
}

// outermost returns checks that imply the others: of the indices of an array that differ by constants, the smallest and the
// largest one. An index between two that are in range is in range.
func outermost(checks []*ir.Value) []*ir.Value {
	type array struct{ base, length *ir.Value }
	type ends struct{ low, high int64 }
	arrays := map[array]ends{}
	of := func(c *ir.Value) (array, int64) {
		index, length := c.Args[0].Args[0], c.Args[0].Args[1]
		if index.Op == ir.OpAdd {
			if k, ok := analysis.IntConst(index.Args[1]); ok && -maxTerms < k && k < maxTerms {
				return array{index.Args[0], length}, k
			}
		}
		return array{index, length}, 0
	}
	for _, c := range checks {
		a, k := of(c)
		e, ok := arrays[a]
		if !ok {
			e = ends{k, k}
		}
		arrays[a] = ends{min(e.low, k), max(e.high, k)}
	}
	return slices.DeleteFunc(slices.Clone(checks), func(c *ir.Value) bool {
		a, k := of(c)
		return k != arrays[a].low && k != arrays[a].high
	})
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

// A searcher recognises a loop that halves an interval, as a binary search does:
//
//	low = phi 0, nextLow       where nextLow is low or not negative, and nextHigh is high or
//	high = phi n, nextHigh     middle; the loop goes on while nextLow < nextHigh
//	middle = (low + high) / 2
//
// So middle is never negative and less than n, which is what is tested before the loop.
type searcher struct {
	loop      *analysis.Loop
	low, high *ir.Value
}

// search recognises an interval that the loop halves, and gathers the checks of its middle.
func (v *loopVersioner) search() bool {
	l := v.loop
	v.entry = l.Preheader()
	if v.entry == nil || len(l.Latches) != 1 {
		return false
	}
	t := l.Latches[0].Term()
	if t.Op != ir.OpIf || l.Latches[0].Succs[0] != l.Header || t.Args[0].Op != ir.OpSLt {
		return false
	}
	s := &searcher{loop: l}
	for _, phi := range l.Header.Phis() {
		switch start, next := l.PhiArgs(phi); {
		case start == nil || next == nil || phi.Type.Kind != ir.KindI64:
		case next == t.Args[0].Args[0]:
			s.low, v.start = phi, start
		case next == t.Args[0].Args[1]:
			s.high, v.bound = phi, start
		}
	}
	if s.low == nil || s.high == nil || !s.keeps(t.Args[0].Args[0], s.rises, maxDepth) || !s.keeps(t.Args[0].Args[1], s.falls, maxDepth) {
		return false
	}
	v.halves = true
	return v.collectMiddles(s)
}

// collectMiddles gathers the checks of an interval's middle.
func (v *loopVersioner) collectMiddles(s *searcher) bool {
	for _, b := range v.loop.Blocks {
		for i, c := range b.Values {
			if c.Op != ir.OpCheck || c.Args[0].Op != ir.OpULt || !s.middle(c.Args[0].Args[0]) || !v.invariant(c.Args[0].Args[1]) {
				continue
			}
			if v.ranges.At(c.Args[0].Args[1], analysis.Point{Block: b, Index: i}).Lo >= 0 {
				v.checks = append(v.checks, c)
			}
		}
	}
	return len(v.checks) > 0
}

// keeps reports whether x is, or is chosen only from, values that is holds for.
func (s *searcher) keeps(x *ir.Value, is func(*ir.Value) bool, depth int) bool {
	var from []*ir.Value
	switch {
	case is(x):
		return true
	case depth == 0:
		return false
	case x.Op == ir.OpSelect:
		from = x.Args[1:]
	case x.Op == ir.OpPhi && x.Block != s.loop.Header && s.loop.Contains(x.Block):
		from = x.Args
	default:
		return false
	}
	for _, a := range from {
		if !s.keeps(a, is, depth-1) {
			return false
		}
	}
	return true
}

// rises reports whether x is low, or is not negative because the middle is not.
func (s *searcher) rises(x *ir.Value) bool {
	if c, ok := constArg(x, ir.OpAdd); ok && c >= 0 && c < maxTerms {
		x = x.Args[0]
	}
	return x == s.low || s.middle(x)
}

// falls reports whether x is high or the middle, which is less.
func (s *searcher) falls(x *ir.Value) bool { return x == s.high || s.middle(x) }

// middle reports whether x is (low+high)/2 or low+(high-low)/2.
func (s *searcher) middle(x *ir.Value) bool {
	if x.Op == ir.OpAdd {
		for i, a := range x.Args {
			if way := half(x.Args[1-i]); a == s.low && way != nil && way.Op == ir.OpSub && way.Args[0] == s.high && way.Args[1] == s.low {
				return true
			}
		}
		return false
	}
	sum := half(x)
	return sum != nil && sum.Op == ir.OpAdd && (sum.Args[0] == s.low && sum.Args[1] == s.high || sum.Args[0] == s.high && sum.Args[1] == s.low)
}

// half returns what x is half of, if that is not negative, or nil. Of a sum that is truncated, x may be less.
func half(x *ir.Value) *ir.Value {
	short := x.Op == ir.OpZExt && x.Args[0].Type.Kind == ir.KindI32
	if short {
		x = x.Args[0]
	}
	if x.Op != ir.OpLShr && (x.Op != ir.OpAShr || short) {
		return nil
	}
	n, ok := analysis.IntConst(x.Args[1])
	x = x.Args[0]
	switch {
	case !ok || n != 1 || short && x.Op != ir.OpTrunc:
		return nil
	case short:
		return x.Args[0]
	}
	return x
}

// testSearch computes whether the interval is one of numbers that are not negative, and ends before all lengths.
func (v *loopVersioner) testSearch(e *editor) *ir.Value {
	ok := e.make(ir.OpSLe, ir.I1, e.constant(ir.I64, 0), v.start)
	ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpSLt, ir.I1, v.start, v.bound))
	ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpSLt, ir.I1, v.bound, e.constant(ir.I64, maxCounter)))
	for _, c := range v.checks {
		ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpULe, ir.I1, v.bound, c.Args[0].Args[1]))
	}
	return ok
}
