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
// indices that are linear in the induction variables are in range in the first and the last
// iteration, and all remainders by an invariant are, or all those in the middle of an interval that the loop halves. If so, the
// loop runs without those checks; otherwise the copy, which has them, runs and finds the fault.
//
//	                                  b0: %8 = whether %start and %n-1 are below %length
//	b0: jump b1                           if %8 b1 b5
//	b1: %i = phi %start, %j           b1: %i = phi %start, %j
//	    check %i < %length        ->      %x = load %a + 4*%i
//	    %x = load %a + 4*%i               %j = add %i, 1
//	    %j = add %i, 1                    if %j < %n b1 b2
//	    if %j < %n b1 b2              b5 cold: a copy with the check
//
// A loop of constant trip count is not copied, see fixedChecker, but for CPUs, whose vector code does not handle loops that end
// with a fault.
func versionLoops(f *ir.Func, o *Options) (changed bool) {
	edit.AddPreheaders(f)
	dom := ir.Dominators(f)
	ranges := analysis.NewRanges(dom)
	nest := analysis.Loops(dom)
	var plans []interface{ apply() }
	for _, l := range nest {
		if !isInnermost(nest, l) || hasConvergent(l) {
			continue
		}
		v := &loopVersioner{loop: l, ranges: ranges}
		counted := v.counts() && v.collect()
		if counted && !o.Unroll {
			if x, ok := v.fixed(); ok {
				plans = append(plans, x)
				continue
			}
		}
		if size(l) <= maxVersioned && (counted && !v.interleaves() || v.search()) {
			plans = append(plans, v)
		}
	}
	for _, p := range plans {
		p.apply()
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

// A loopVersioner handles one loop.
type loopVersioner struct {
	loop         *analysis.Loop
	ranges       *analysis.Ranges
	entry        *ir.Block // the preheader
	counter      loopCounter
	checks       []*ir.Value
	limited      []limitedCheck
	factors      []*ir.Value // invariants that the counter is multiplied with, or that another induction variable changes by
	parts        int         // that the index at hand may still have
	start, bound *ir.Value   // of the interval that the loop halves, or nil
}

// A limitedCheck is a check of an index that is a remainder by an invariant, or has no bits but those of one.
type limitedCheck struct{ check, limit *ir.Value }

func (v *loopVersioner) invariant(x *ir.Value) bool { return v.loop.Invariant(x) }

// counts recognises the loop's counter.
func (v *loopVersioner) counts() bool {
	v.entry = v.loop.Preheader()
	limit, ok := v.loop.Limit()
	if low, high, meet := v.loop.Meeting(); meet && v.entry != nil {
		v.counter = loopCounter{Limit: analysis.Limit{Induction: low, Op: ir.OpSLt, Above: true}, high: &high}
		return v.counter.recogniseMeeting()
	}
	if v.entry == nil || !ok || limit.Start == nil || limit.Phi.Type.Bits() < 8 {
		return false
	}
	v.counter = loopCounter{Limit: limit}
	return v.counter.recognise(v.ranges.At(limit.Step, v.ranges.Facts.PointOf(limit.Next)))
}

// interleaves reports whether the pass interleave has the loads of four iterations in flight after one test, or the loop may end after a few
// iterations.
func (v *loopVersioner) interleaves() bool {
	return v.counter.interleaves() && (len(v.loop.Blocks) == 1 || len(v.loop.Exits()) > 1)
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
			if n := v.limit(index, analysis.Point{Block: b, Index: i}); n != nil {
				v.limited = append(v.limited, limitedCheck{c, n})
				continue
			}
			factors, before := len(v.factors), v.counter
			v.parts = maxParts
			if k, ok := v.coefficient(index); !ok || k == (linear{}) && len(v.factors) == factors {
				v.factors, v.counter = v.factors[:factors], before
				continue
			}
			v.checks = append(v.checks, c)
		}
	}
	return len(v.checks)+len(v.limited) > 0 && !slices.ContainsFunc(v.checks, v.limits)
}

// limit returns n if an index, which is computed in the loop, is x%n or x&n where n is an invariant, and not negative; or nil.
func (v *loopVersioner) limit(index *ir.Value, at analysis.Point) *ir.Value {
	if v.invariant(index) {
		return nil
	}
	switch {
	case index.Op == ir.OpURem || index.Op == ir.OpSRem && v.ranges.At(index, at).NonNegative():
		if n := index.Args[1]; v.invariant(n) && !isConst(n) {
			return n
		}
	case index.Op == ir.OpAnd:
		for _, n := range index.Args {
			if v.invariant(n) && !isConst(n) {
				return n
			}
		}
	}
	return nil
}

// limits reports whether a check ends the loop after fewer than minVersioned iterations, if the counter is not negative.
func (v *loopVersioner) limits(check *ir.Value) bool {
	c := check.Args[0]
	length, ok := analysis.IntConst(c.Args[1])
	return ok && v.counter.is(c.Args[0]) && v.counter.step > 0 && length <= (minVersioned-1)*v.counter.step
}

// linear says how an index changes: by times as much as the counter does, and by each in every iteration.
type linear struct{ times, each int64 }

func (k linear) small() bool {
	return max(k.times, -k.times, k.each, -k.each) <= maxTerms
}

// coefficient returns how x changes, which is linear in the induction variables: not at all, or by an invariant, which
// joins v.factors, if the result is zero.
func (v *loopVersioner) coefficient(x *ir.Value) (linear, bool) {
	if v.parts--; v.parts < 0 {
		return linear{}, false
	}
	k, ok := v.terms(x)
	return k, ok && k.small()
}

func (v *loopVersioner) terms(x *ir.Value) (linear, bool) {
	switch {
	case v.invariant(x):
		v.counter.add(x)
		return linear{}, true
	case v.counter.is(x):
		v.counter.use(x)
		return linear{times: 1}, true
	case x.Op == ir.OpPhi:
		return v.induction(x)
	case x.Op == ir.OpAdd || x.Op == ir.OpSub:
		return v.sum(x)
	case x.Op == ir.OpMul:
		return v.product(x)
	case x.Op == ir.OpShl && isConst(x.Args[1]) && x.Args[1].Imm >= 0 && x.Args[1].Imm < 31:
		k, ok := v.coefficient(x.Args[0])
		return linear{k.times << x.Args[1].Imm, k.each << x.Args[1].Imm}, ok && k != linear{}
	}
	return linear{}, false
}

// induction handles an induction variable other than the counter. The number of iterations must be known, without a division
// by a step that is not constant. In the copy of a kernel, which runs rarely, such loops keep their checks.
func (v *loopVersioner) induction(x *ir.Value) (linear, bool) {
	if x.Block != v.loop.Header || v.loop.Header.Cold || x.Type.Bits() != 64 || v.counter.step == 0 {
		return linear{}, false
	}
	i, ok := v.loop.Induction(x)
	if !ok || i.Start == nil {
		return linear{}, false
	}
	if step, ok := analysis.IntConst(i.Step); ok {
		return linear{each: step}, step > -maxTerms && step < maxTerms
	}
	v.factors = append(v.factors, i.Step)
	return linear{}, true
}

// sum handles a+b and a-b. Only one of them may contain an invariant factor.
func (v *loopVersioner) sum(x *ir.Value) (linear, bool) {
	n := len(v.factors)
	a, ok1 := v.coefficient(x.Args[0])
	b, ok2 := v.coefficient(x.Args[1])
	if !ok1 || !ok2 || len(v.factors) > n && (a != linear{} || b != linear{} || len(v.factors) > n+1) {
		return linear{}, false
	}
	if x.Op == ir.OpSub {
		b = linear{-b.times, -b.each}
	}
	return linear{a.times + b.times, a.each + b.each}, true
}

func (v *loopVersioner) product(x *ir.Value) (linear, bool) {
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
			return linear{}, false
		case isNumber && c > -maxTerms && c < maxTerms:
			return linear{k.times * c, k.each * c}, true
		case k == linear{times: 1}:
			v.factors = append(v.factors, other)
			return linear{}, true
		}
	}
	return linear{}, false
}

// apply makes the two loops and the test that chooses between them.
func (v *loopVersioner) apply() {
	note(v.loop, ir.LoopVersioned, 0)
	test := v.test
	if v.bound != nil {
		test = v.testSearch
	}
	ok := atEnd(v.entry, test)
	edit.DemoteLiveOuts(v.loop)
	slow := v.entry.Func.NewBlock()
	slow.Append(ir.OpJump, ir.Void)
	fixed := v.loop.TripCount(maxFixedTrips) > 0
	copies := edit.CopyWhole(v.loop, v.entry, slow)
	for _, b := range copies {
		b.Cold = true
	}
	if fixed { // which ptxas would unroll
		keep(copies[0])
	}
	edit.SetTerm(v.entry, ir.OpIf, ok)
	v.entry.AddEdge(slow)
	for _, b := range v.loop.Blocks {
		b.Values = slices.DeleteFunc(b.Values, func(x *ir.Value) bool { return slices.Contains(v.checks, x) || v.hasLimited(x) })
	}
}

// test computes whether all checks pass in all iterations. From the first iteration to the last,
// an index moves by at most the scale of each term times the way of the counter or the number of iterations, or a factor times
// one of these; where that is below 1<<63 and both ends are in range, nothing wraps in between.
func (v *loopVersioner) test(e *editor) *ir.Value {
	first, last, ok := v.counter.ends(e)
	for _, x := range v.factors {
		ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpULt, ir.I1, x, e.constant(ir.I64, maxTerms)))
	}
	for _, c := range v.limited {
		index, length := c.check.Args[0].Args[0], c.check.Args[0].Args[1]
		most := c.limit
		if index.Op != ir.OpAnd { // for a divisor of 0, the largest number
			most = e.make(ir.OpSub, ir.I64, most, e.constant(ir.I64, 1))
		}
		ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpULt, ir.I1, most, length))
	}
	for _, c := range outermost(v.checks) {
		index, length := c.check.Args[0].Args[0], c.check.Args[0].Args[1]
		for _, at := range []moment{first, last} {
			ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpULt, ir.I1, v.with(e, index, at), length))
		}
	}
	return ok
}

func (v *loopVersioner) hasLimited(x *ir.Value) bool {
	return slices.ContainsFunc(v.limited, func(c limitedCheck) bool { return c.check == x })
}

// An outerCheck is a check of the lowest or the highest of the indices of an array that differ by constants.
type outerCheck struct {
	check           *ir.Value
	lowest, highest bool
}

// outermost returns checks that imply the others. An index between two that are in range is in range.
func outermost(checks []*ir.Value) (list []outerCheck) {
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
	for _, c := range checks {
		a, k := of(c)
		if x := (outerCheck{c, k == arrays[a].low, k == arrays[a].high}); x.lowest || x.highest {
			list = append(list, x)
		}
	}
	return list
}

// with computes x in an iteration.
func (v *loopVersioner) with(e *editor, x *ir.Value, at moment) *ir.Value {
	switch {
	case v.invariant(x):
		return x
	case v.counter.is(x):
		return at.counter
	case x.Op == ir.OpPhi:
		i, _ := v.loop.Induction(x)
		if at.before == nil {
			return i.Start
		}
		return after(e, i, at.before)
	}
	args := make([]*ir.Value, len(x.Args))
	for i, a := range x.Args {
		args[i] = v.with(e, a, at)
	}
	return e.makeImm(x.Op, x.Type, x.Imm, args...)
}
