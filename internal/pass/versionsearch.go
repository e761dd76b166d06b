package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

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
	v.entry, v.start, v.bound, v.checks = l.Preheader(), nil, nil, nil
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
