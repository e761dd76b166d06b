package analysis

import (
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Ranges holds the ranges of the integers in a function, computed by abstract interpretation over
// intervals and refined at each point by the facts that hold there.
type Ranges struct {
	Facts  *Facts
	of     []Range // by value ID
	visits []uint8 // of phis, up to 4
	asked  memory
	facts  []Fact // what given works with
}

// memory holds what was asked about one place: a proof asks the same again and again.
type memory struct {
	place  Point
	number uint32   // of the place, among those that were asked about
	when   []uint32 // by value ID: the number of the place that answer is for
	answer []Range  // by value ID
}

// NewRanges computes the ranges of the function that dom belongs to.
func NewRanges(dom *ir.Dom) *Ranges {
	f := dom.Order()[0].Func
	r := &Ranges{Facts: NewFacts(dom), of: make([]Range, f.NumValues()), visits: make([]uint8, f.NumValues())}
	for i := range r.of {
		r.of[i] = none
	}
	r.params(f)
	s := sweeper{Ranges: r, dom: dom, growing: true}
	s.sweep(0, true)
	first := slices.IndexFunc(dom.Order(), s.loopsBack)
	if first < 0 {
		return r // each has been computed from what is final
	}
	for s.sweep(first, false) {
	}
	s.growing = false // what widening has overshot comes back
	s.sweep(first, true)
	s.sweep(first, false)
	return r
}

// params sets the ranges of the parameters. Pointers reach a kernel in slices only, with
// length and capacity after; no address has more than 48 bits.
func (r *Ranges) params(f *ir.Func) {
	for i, p := range f.Params {
		r.of[p.ID] = FullRange(p.Type)
		for k := 1; k <= 2 && k <= i && f.Kernel; k++ {
			base := f.Params[i-k]
			if base.Type.IsPtr() && p.Type.Kind == ir.KindI64 && p.Imm == base.Imm+8*int64(k) {
				r.of[p.ID] = Range{0, 1 << 48}
			}
		}
		if f.Narrow && p.Type.Kind == ir.KindI64 {
			r.of[p.ID] = r.of[p.ID].intersect(word)
		}
	}
}

// At returns the range of v at p.
func (r *Ranges) At(v *ir.Value, p Point) Range {
	m := &r.asked
	if p != m.place || m.when == nil {
		m.place = p
		m.number++
	}
	if m.when == nil {
		m.when, m.answer = make([]uint32, len(r.of)), make([]Range, len(r.of))
	}
	if m.when[v.ID] != m.number {
		m.when[v.ID], m.answer[v.ID] = m.number, r.orFull(v, r.refined(v, p))
	}
	return m.answer[v.ID]
}

// orFull hides that a place cannot be reached: nothing is claimed there.
func (r *Ranges) orFull(v *ir.Value, x Range) Range {
	if x.Empty() {
		return FullRange(v.Type)
	}
	return x
}

// sweeper computes ranges from those that it has, again and again.
type sweeper struct {
	*Ranges
	dom     *ir.Dom
	growing bool
}

// sweep computes the ranges of the blocks from a place in the order on, and reports whether one has grown (or shrunk, when
// not growing). What is after a value in the order reaches it through phis of blocks that an edge leads
// back to, and in no other way: unless all is wanted, values are left alone up to the first of these that has changed.
func (s *sweeper) sweep(from int, all bool) bool {
	changed := false
	for _, b := range s.dom.Order()[from:] {
		back := s.loopsBack(b)
		for i, v := range b.Values {
			if v.Type.IsInt() && (all || changed || back && v.Op == ir.OpPhi) {
				changed = s.update(v, Point{b, i}) || changed
			}
		}
	}
	return changed
}

// loopsBack reports whether an edge leads to b from b itself or a block after it in the order.
func (s *sweeper) loopsBack(b *ir.Block) bool {
	return slices.ContainsFunc(b.Preds, func(p *ir.Block) bool { return s.dom.Rank(p) >= s.dom.Rank(b) })
}

// update computes the range of v, and reports whether it has changed.
func (s *sweeper) update(v *ir.Value, p Point) bool {
	old, now := s.of[v.ID], s.compute(v, p)
	if s.growing {
		now = old.union(now)
		if v.Op == ir.OpPhi && now != old {
			s.visits[v.ID] = min(s.visits[v.ID]+1, 4)
			if s.visits[v.ID] > 3 {
				now = widen(old, now, v.Block).intersect(FullRange(v.Type))
			}
		}
	} else {
		if v.Op == ir.OpPhi {
			now = reached(v, now)
		}
		now = now.intersect(old)
	}
	if now == old || now.Empty() && old.Empty() {
		return false
	}
	s.of[v.ID] = now
	return true
}

// reached returns the part of x that a phi reaches, which starts from a constant in steps of a constant and is known to be in x:
// a counter that starts from 0 in steps of 16 and is below 64 is at most 48.
func reached(phi *ir.Value, x Range) Range {
	if len(phi.Args) != 2 || x.Empty() {
		return x
	}
	for i, next := range phi.Args {
		start := phi.Args[1-i]
		if next.Op != ir.OpAdd || next.Args[0] != phi || next.Args[1].Op != ir.OpConst || start.Op != ir.OpConst {
			continue
		}
		from, step := constRange(start).Lo, constRange(next.Args[1]).Lo
		way, ok1 := subExact(x.Hi, from)
		beyond, ok2 := addExact(x.Hi, step)
		if step < 0 {
			way, ok1 = subExact(x.Lo, from)
			beyond, ok2 = addExact(x.Lo, step)
		}
		if !ok1 || !ok2 || step == 0 || way != 0 && (way < 0) != (step < 0) || (Range{beyond, beyond}).intersect(FullRange(phi.Type)).Empty() {
			continue // or it wraps around
		}
		if last := from + way/step*step; step > 0 {
			x.Hi = last
		} else {
			x.Lo = last
		}
	}
	return x
}

// widen moves the bounds that have changed to the next threshold, so that loops end. A number that a phi of the loop's header
// starts with is one: the middle of two numbers does not exceed the larger of those that they start with.
func widen(old, now Range, header *ir.Block) Range {
	if old.Empty() {
		return now
	}
	to := thresholds(old, now)
	for _, phi := range header.Phis() {
		for _, a := range phi.Args {
			for a.Op == ir.OpPhi && len(a.Args) == 1 {
				a = a.Args[0]
			}
			if a.Op != ir.OpConst || a.Type != phi.Type || !a.Type.IsInt() {
				continue
			}
			c := constRange(a).Lo
			if now.Hi > old.Hi && c >= now.Hi {
				to.Hi = min(to.Hi, c)
			}
			if now.Lo < old.Lo && c <= now.Lo {
				to.Lo = max(to.Lo, c)
			}
		}
	}
	return to
}

// thresholds moves the bounds that have changed to the next ones that loops often end at.
func thresholds(old, now Range) Range {
	lows := []int64{0, -1, -1 << 7, -1 << 15, -1 << 31, math.MinInt64}
	highs := []int64{-1, 0, 1, 15, 31, 63, 127, 255, 1023, 1<<15 - 1, 1<<16 - 1, 1<<31 - 2, 1<<31 - 1, 1<<32 - 1, 1 << 48, 1 << 62, math.MaxInt64 - 1, math.MaxInt64}
	if now.Lo < old.Lo {
		i := slices.IndexFunc(lows, func(x int64) bool { return x <= now.Lo })
		now.Lo = lows[i]
	}
	if now.Hi > old.Hi {
		i := slices.IndexFunc(highs, func(x int64) bool { return x >= now.Hi })
		now.Hi = highs[i]
	}
	return now
}

// compute returns the range of v at place p from those of its arguments.
func (r *Ranges) compute(v *ir.Value, p Point) Range {
	switch v.Op {
	case ir.OpPhi:
		return r.phi(v)
	case ir.OpSelect:
		x := r.given(Fact{v.Args[0], true, p}, v.Args[1], r.refined(v.Args[1], p))
		y := r.given(Fact{v.Args[0], false, p}, v.Args[2], r.refined(v.Args[2], p))
		return x.union(y)
	}
	if len(v.Args) == 0 || !v.Op.Pure() {
		return source(v)
	}
	var space [3]Range // nearly always enough
	args := space[:]
	if len(v.Args) > len(space) {
		args = make([]Range, len(v.Args))
	}
	args = args[:len(v.Args)]
	for i, a := range v.Args {
		if !a.Type.IsInt() {
			return FullRange(v.Type)
		}
		if args[i] = r.refined(a, p); args[i].Empty() {
			return none
		}
	}
	x := transfer(v, args)
	if v.Block.Func.Narrow && ThreadAxis(v) >= 0 {
		x = x.intersect(Range{0, word.Hi})
	}
	return x
}

// narrowMargin is how far the integers of a narrow launch, and its numbers of threads, are at least from the limits of an i32,
// as driver.Fit says. Sums of them and small constants fit in 32 bits, too.
const narrowMargin = 1 << 16

// word is the integers of a narrow launch.
var word = Range{math.MinInt32 + narrowMargin, math.MaxInt32 - narrowMargin}

// ThreadAxis returns the axis along which v, an i64, counts threads of the grid: v is the index of
// a thread or of the first thread of its block, or the number of threads. It returns -1 for all
// other values.
func ThreadAxis(v *ir.Value) int {
	if v.Type.Kind != ir.KindI64 {
		return -1
	}
	switch v.Op {
	case ir.OpMul, ir.OpShl:
		return blocksAxis(v)
	case ir.OpAdd:
		for i, a := range v.Args {
			if t := extended(v.Args[1-i]); t != nil && t.Op == ir.OpTid && blocksAxis(a) == int(t.Imm) {
				return int(t.Imm)
			}
		}
	}
	return -1
}

// blocksAxis returns the axis along which v multiplies the block's index, or the number
// of blocks, by the threads of a block, or -1.
func blocksAxis(v *ir.Value) int {
	if v.Op != ir.OpMul && v.Op != ir.OpShl {
		return -1
	}
	for i, a := range v.Args {
		blocks := extended(a)
		if blocks == nil || blocks.Op != ir.OpCtaid && blocks.Op != ir.OpNCtaid {
			continue
		}
		size := v.Args[1-i]
		if n := extended(size); n != nil && n.Op == ir.OpNTid && n.Imm == blocks.Imm {
			return int(blocks.Imm)
		}
		if size.Op == ir.OpConst && factor(v.Op, size.Imm) == int64(v.Block.Func.Block[blocks.Imm]) {
			return int(blocks.Imm)
		}
	}
	return -1
}

// factor returns what an operation with constant c multiplies by.
func factor(op ir.Op, c int64) int64 {
	if op == ir.OpShl && c >= 0 && c < 63 {
		return 1 << c
	}
	return c
}

// extended returns what v extends without sign, or nil.
func extended(v *ir.Value) *ir.Value {
	if v.Op == ir.OpZExt {
		return v.Args[0]
	}
	return nil
}

func (r *Ranges) phi(v *ir.Value) Range {
	sum := none
	for i, a := range v.Args {
		p := v.Block.Preds[i]
		x := r.refined(a, End(p))
		if c, holds, ok := edge(p, v.Block); ok {
			x = r.given(Fact{c, holds, End(p)}, a, x)
		}
		sum = sum.union(x)
	}
	return sum
}

// maxChain bounds how many facts are followed from value to value.
const maxChain = 2

// refined returns the range of v at p; it is empty if p is not known to be reached.
func (r *Ranges) refined(v *ir.Value, p Point) Range { return r.refine(v, p, maxChain) }

func (r *Ranges) refine(v *ir.Value, p Point, chain int) Range {
	x := r.of[v.ID]
	if v.Op == ir.OpConst {
		return constRange(v)
	}
	if chain == 0 {
		return x
	}
	t := r.Facts
	for n := t.of(v).about.first; n > 0; n = t.facts[n-1].next {
		if f := &t.facts[n-1].what; t.Reaches(f.Where, p) {
			x = r.implied(f, v, x, chain-1)
		}
	}
	if v.Op == ir.OpZExt || v.Op == ir.OpSExt {
		return r.extended(v, p, x, chain)
	}
	return x
}

// extended makes the range x of an extension smaller by what is known of the narrower number.
func (r *Ranges) extended(v *ir.Value, p Point, x Range, chain int) Range {
	a := v.Args[0]
	if y := r.refine(a, p, chain); a.Type.Kind != ir.KindI1 && (v.Op == ir.OpSExt || y.NonNegative()) {
		return x.intersect(y)
	}
	return x
}

// Given returns the range of v at a place where a fact holds, too.
func (r *Ranges) Given(fact Fact, v *ir.Value, p Point) Range {
	return r.orFull(v, r.given(fact, v, r.At(v, p)))
}

// given returns the range x of v, made smaller by the fact and what follows from it.
func (r *Ranges) given(fact Fact, v *ir.Value, x Range) Range {
	r.facts = appendImplied(r.facts[:0], fact)
	for i := range r.facts {
		if f := &r.facts[i]; isCompare(f.Cond.Op) && slices.Contains(f.Cond.Args, v) {
			x = r.implied(f, v, x, 0)
		}
	}
	return x
}

// implied makes the range x of v smaller by what the comparison of a fact says of it.
func (r *Ranges) implied(f *Fact, v *ir.Value, x Range, chain int) Range {
	c := f.Cond
	if c.Args[0] == c.Args[1] || !v.Type.IsInt() || v.Type.Kind == ir.KindI1 {
		return x
	}
	left := c.Args[0] == v
	other := c.Args[1]
	if !left {
		other = c.Args[0]
	}
	y := r.refine(other, f.Where, chain)
	if y.Empty() || x.Empty() {
		return x
	}
	op := c.Op
	if !f.Holds {
		op, left = negate(op, left)
	}
	return narrow(op, left, x, y)
}

// negate returns the comparison that holds where op does not; left says on which side the
// value in question stands then.
func negate(op ir.Op, left bool) (ir.Op, bool) {
	switch op {
	case ir.OpEq:
		return ir.OpNe, left
	case ir.OpNe:
		return ir.OpEq, left
	case ir.OpSLt:
		return ir.OpSLe, !left
	case ir.OpSLe:
		return ir.OpSLt, !left
	case ir.OpULt:
		return ir.OpULe, !left
	}
	return ir.OpULt, !left
}

// narrow returns the part of x for which `x op y` (or `y op x`) can hold.
func narrow(op ir.Op, left bool, x, y Range) Range {
	strict := int64(0)
	if op == ir.OpSLt || op == ir.OpULt {
		strict = 1
	}
	switch op {
	case ir.OpEq:
		return x.intersect(y)
	case ir.OpNe:
		if y.Lo == y.Hi && x.Lo == y.Lo && x.Lo < x.Hi {
			x.Lo++
		}
		if y.Lo == y.Hi && x.Hi == y.Lo && x.Lo < x.Hi {
			x.Hi--
		}
		return x
	case ir.OpSLt, ir.OpSLe:
	case ir.OpULt, ir.OpULe:
		switch {
		case left && y.Lo >= 0: // what is below a number that is not negative is not either
			x.Lo = max(x.Lo, 0)
		case !left && x.Lo >= 0 && y.Lo >= 0:
		default:
			return x
		}
	}
	if left && y.Hi >= math.MinInt64+strict {
		x.Hi = min(x.Hi, y.Hi-strict)
	}
	if !left && y.Lo <= math.MaxInt64-strict {
		x.Lo = max(x.Lo, y.Lo+strict)
	}
	return x
}
