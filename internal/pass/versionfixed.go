package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

const (
	maxFixedTrips = 4096    // of a loop whose iterations are counted
	maxMove       = 1 << 50 // of an index in one iteration; the distance of two of its values is then exact
)

// A fixedChecker handles a loop that always runs a known number of times and checks indices in every iteration. Such a loop needs
// no copy: a test of the lowest and the highest index before the loop fails only if one of the checks does. A small loop then repeats
// the checks to find out which one:
//
//	b0: %8 = ult i1 63, %length
//	    if %8 b1 b5
//	b1: the loop, without checks
//	b5 cold: %k = phi 0, %m
//	    check %k < %length
//	    %m = add %k, 1
//	    if %m < 64 b5 b6
//	b6 cold: fault %k
type fixedChecker struct {
	*loopVersioner
	exit        analysis.Exit
	trips       int64
	first, last int64                   // values of the counter, in 64 bits
	known       map[*ir.Value]bool      // what repeatable has said
	moves       map[*ir.Value]int64     // by check: how far its index moves in an iteration; missing if that is by a factor
	made        map[*ir.Value]*ir.Value // in the loop that repeats the checks, by the value in the loop
	phis        []*ir.Value             // of the loop, which have one in the other loop
}

// fixed returns a checker of the loop whose checks have been collected. It reports false if the loop needs a copy.
func (v *loopVersioner) fixed() (*fixedChecker, bool) {
	exits := v.loop.Exits()
	x := &fixedChecker{loopVersioner: v, known: map[*ir.Value]bool{}, moves: map[*ir.Value]int64{}, made: map[*ir.Value]*ir.Value{}}
	if len(exits) != 1 || v.counter.high != nil || v.counter.step == 0 || len(v.limited) > 0 || !isConst(single(v.counter.Start)) {
		return nil, false
	}
	x.exit = exits[0]
	x.trips = int64(v.loop.ExitCount(x.exit, maxFixedTrips))
	return x, x.trips > 1 && x.exit.From == v.loop.Latches[0] && x.spans() && x.always() && x.steady()
}

// spans computes the first and the last value of the counter. It reports false if the counter leaves its type between them.
func (x *fixedChecker) spans() bool {
	step := x.counter.step
	if x.counter.falls {
		step = -step
	}
	if step > maxMove || step < -maxMove {
		return false
	}
	x.first = single(x.counter.Start).Imm
	x.last = x.first + (x.trips-1)*step
	low, high := min(x.first, x.last), max(x.first, x.last)
	if x.counter.long() {
		return -maxCounter < low && high < maxCounter
	}
	least := -x.counter.signed()
	if x.counter.signs || x.counter.unsigned() {
		least = 0
	}
	return least <= low && high < x.counter.signed()
}

// always reports whether every iteration does all checks, and nothing else that could be told from a fault.
func (x *fixedChecker) always() bool {
	for _, b := range x.loop.Blocks {
		for _, c := range b.Values {
			switch {
			case !observable(c):
			case !slices.Contains(x.checks, c) || !x.loop.InEveryIteration(b) || slices.ContainsFunc(c.Args, func(a *ir.Value) bool { return !x.repeatable(a) }):
				return false
			}
		}
	}
	return x.repeatable(x.exit.From.Term().Args[0])
}

// repeatable reports whether v can be computed without the rest of the loop.
func (x *fixedChecker) repeatable(v *ir.Value) bool {
	known, ok := x.known[v]
	switch {
	case ok:
		return known
	case x.invariant(v):
		known = true
	case v.Op == ir.OpPhi:
		_, known = x.loop.Induction(v)
		known = known && v.Block == x.loop.Header
	default:
		known = v.Op.Pure() && !slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return !x.repeatable(a) })
	}
	x.known[v] = known
	return known
}

// steady computes the moves of the indices. Those by a factor, which must be known to be small, are not constant.
func (x *fixedChecker) steady() bool {
	step := x.counter.step
	if x.counter.falls {
		step = -step
	}
	for _, c := range x.checks {
		factors := len(x.factors)
		x.parts = maxParts
		k, _ := x.coefficient(c.Args[0].Args[0])
		if more := x.factors[factors:]; len(more) > 0 {
			x.factors = x.factors[:factors]
			if f := x.ranges.At(more[0], analysis.End(x.entry)); x.counter.step != 1 || f.Lo < 0 || f.Hi > maxTerms {
				return false
			}
			continue
		}
		if step > maxMove/maxTerms || step < -maxMove/maxTerms {
			return false
		}
		move := k.times*step + k.each
		if move > maxMove || move < -maxMove {
			return false
		}
		x.moves[c] = move
	}
	return true
}

// apply makes the test and the loop that finds the check that fails.
func (x *fixedChecker) apply() {
	ok := atEnd(x.entry, x.test)
	edit.SetTerm(x.entry, ir.OpIf, ok)
	x.repeat()
	for _, b := range x.loop.Blocks {
		b.Values = slices.DeleteFunc(b.Values, func(c *ir.Value) bool { return slices.Contains(x.checks, c) })
	}
}

// test computes whether all checks pass in all iterations.
func (x *fixedChecker) test(e *editor) (ok *ir.Value) {
	first := moment{e.constant(ir.I64, x.first), nil}
	last := moment{e.constant(ir.I64, x.last), e.constant(ir.I64, x.trips-1)}
	for _, c := range outermost(x.checks) {
		index, length := c.check.Args[0].Args[0], c.check.Args[0].Args[1]
		move, constant := x.moves[c.check]
		low, high := first, last
		if move < 0 {
			low, high = high, low
		}
		if !constant || c.lowest && !x.positive(index, low.counter.Imm) {
			ok = both(e, ok, e.make(ir.OpULt, ir.I1, x.with(e, index, low), length))
		}
		if !constant || c.highest {
			ok = both(e, ok, e.make(ir.OpULt, ir.I1, x.with(e, index, high), length))
		}
	}
	return ok
}

// positive reports whether an index is known not to be negative, nor so large that its moves overflow, where the counter has a value.
func (x *fixedChecker) positive(index *ir.Value, counter int64) bool {
	p, ok := analysis.NewPolynomial(index)
	if !ok {
		return false
	}
	varies := false
	p, ok = substitute(p, func(v *ir.Value) analysis.Polynomial {
		if x.counter.is(v) {
			return analysis.Constant(counter)
		}
		varies = varies || !x.invariant(v)
		return analysis.Whole(v)
	})
	if !ok || varies {
		return false
	}
	r, ok := p.Range(x.ranges, analysis.End(x.entry))
	return ok && r.Lo >= 0 && r.Hi < maxCounter
}

// repeat makes a loop that does the checks alone, until one fails. The last one must, if no other does.
func (x *fixedChecker) repeat() {
	slow, end := x.entry.Func.NewBlock(), x.entry.Func.NewBlock()
	slow.Cold, end.Cold = true, true
	e := &editor{b: slow}
	var last *ir.Value
	for _, b := range x.loop.Blocks {
		for _, c := range b.Values {
			if slices.Contains(x.checks, c) {
				last = x.copyOf(e, c)
			}
		}
	}
	latch := x.exit.From
	more := x.copyOf(e, latch.Term().Args[0])
	for _, phi := range x.phis {
		start, next := x.loop.PhiArgs(phi)
		y := x.made[phi]
		y.Args = []*ir.Value{start, x.copyOf(e, next)}
		slow.Values = append(slow.Values, y)
	}
	e.make(ir.OpIf, ir.Void, more)
	slow.Values = append(slow.Values, e.out...)
	keep(slow)
	x.entry.AddEdge(slow)
	for _, s := range latch.Succs {
		if s == x.exit.To {
			slow.AddEdge(end)
		} else {
			slow.AddEdge(slow)
		}
	}
	fault := end.Append(ir.OpFault, ir.Void, slices.Clone(last.Args[1:])...)
	fault.Aux, fault.Pos = last.Aux, last.Pos
}

// copyOf computes a value of the loop.
func (x *fixedChecker) copyOf(e *editor, v *ir.Value) *ir.Value {
	if x.invariant(v) {
		return v
	}
	if x.made[v] != nil {
		return x.made[v]
	}
	if v.Op == ir.OpPhi {
		x.phis = append(x.phis, v)
		x.made[v] = e.b.Make(ir.OpPhi, v.Type)
		return x.made[v]
	}
	args := make([]*ir.Value, len(v.Args))
	for i, a := range v.Args {
		args[i] = x.copyOf(e, a)
	}
	e.pos = v.Pos
	y := e.makeImm(v.Op, v.Type, v.Imm, args...)
	y.Aux, x.made[v] = v.Aux, y
	return y
}
