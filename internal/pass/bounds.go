package pass

import (
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	maxAddend = 1 << 16       // of what an index is a sum of
	maxSum    = 1<<63 - 1<<40 // that no bound comes near
)

// bounder finds what the indices of a kernel do not exceed. An index is a polynomial of numbers of which none is
// negative; with the most that each can be where it is added, and the least where it is subtracted, it is
// a polynomial of parameters and of the size of the grid: the index of a point's lower neighbour,
// ((z+1)*n+y)*n+x, is at most n*n*n-1 if x, y and z are below n and z is not n-1.
type bounder struct {
	f         *ir.Func
	dom       *ir.Dom
	ranges    *analysis.Ranges
	align     *analysis.Alignment
	made      map[made]*ir.Value
	upTo      map[*ir.Value]int64 // what those that are made can be
	tested    map[*ir.Value]bool  // conditions of checks: what they say of an index does not help with those beside it
	checks    []*ir.Value
	bounds    []bound             // of these checks, without those that others imply
	shortener indexShortener      // of the indices of checks that are gone
	caps      map[*ir.Value]int64 // what must be below a number for bounds not to overflow
	least     map[*ir.Value]int64 // what must not be below a number, for an index not to be negative
	assumed   []analysis.Fact     // of the choices that are looked at
	weights   map[*ir.Block]int   // how often blocks run, roughly
	linear    bool                // indices without products are bounded, too
	simple    int                 // how much such checks count for
	realBlock bool                // bounds contain the number of threads of a block, not the most that it can be
}

// bound is what indices of a slice are below.
type bound struct {
	end    analysis.Polynomial
	length *ir.Value
	places []analysis.Point // of the checks that it is for
}

// made names a number that is computed before the kernel alone: that of blocks, or of threads of a block, along an axis, or that of
// a value less one, rounded down to a multiple.
type made struct {
	limit   *ir.Value
	axis    int64
	threads bool
	round   int64
}

func newBounder(f *ir.Func) *bounder {
	dom := ir.Dominators(f)
	b := &bounder{
		f: f, dom: dom, ranges: analysis.NewRanges(dom), align: analysis.NewAlignment(dom, 1), shortener: indexShortener{dom: dom},
		made: map[made]*ir.Value{}, upTo: map[*ir.Value]int64{}, caps: map[*ir.Value]int64{}, tested: map[*ir.Value]bool{},
		least: map[*ir.Value]int64{}, weights: map[*ir.Block]int{},
	}
	for _, block := range dom.Order() {
		b.weights[block] = 1
	}
	for _, l := range analysis.Loops(dom) {
		for _, block := range l.Blocks {
			b.weights[block] *= inLoop
		}
	}
	for _, block := range dom.Order() {
		for _, v := range block.Values {
			if v.Op == ir.OpCheck {
				b.tested[v.Args[0]] = true
			}
		}
	}
	return b
}

// lookAll looks at all checks but those that have been noted.
func (b *bounder) lookAll() {
	for _, block := range b.dom.Order() {
		for i, v := range block.Values {
			if v.Op == ir.OpCheck && !block.Cold && !slices.Contains(b.checks, v) {
				b.look(v, analysis.Point{Block: block, Index: i})
			}
		}
	}
}

// look notes the check where its index has a bound with a product, or any where linear is set, and its length is a
// parameter's.
func (b *bounder) look(check *ir.Value, at analysis.Point) {
	c := check.Args[0]
	if c.Op != ir.OpULt || c.Args[0].Type.Bits() != 64 || !launched(c.Args[1], maxDepth) {
		return
	}
	before := maps.Clone(b.least)
	b.realBlock = b.f.Block[0] == 0
	ends, ok := b.allEnds(c, at)
	if b.realBlock = false; !ok { // with the largest block, bounds have fewer factors
		b.least = maps.Clone(before)
		ends, ok = b.allEnds(c, at)
	}
	if ok && !b.linear && !slices.ContainsFunc(ends, b.multiplies) {
		ok = false
		b.simple += b.weight(at.Block)
	}
	if !ok {
		b.least = before
		return
	}
	b.checks = append(b.checks, check)
	for _, end := range ends {
		b.note(bound{end, c.Args[1], []analysis.Point{at}})
	}
}

// allEnds returns what the index in a comparison with a length is below at a place.
func (b *bounder) allEnds(c *ir.Value, at analysis.Point) ([]analysis.Polynomial, bool) {
	index, ok := b.expand(c.Args[0], at)
	if !ok {
		return nil, false
	}
	ends, ok := b.ends(index, at, maxChosen)
	return ends, ok && !slices.ContainsFunc(ends, func(end analysis.Polynomial) bool { return exceeds(end, c.Args[1]) })
}

// exceeds reports whether an end and a length are constants, and the end is the larger.
func exceeds(end analysis.Polynomial, length *ir.Value) bool {
	n, ok := analysis.IntConst(length)
	for factors, times := range end.Terms() {
		if len(factors) > 0 {
			return false
		}
		return ok && times > n // which is the last term
	}
	return false
}

// weight returns how much a check in a block counts for.
func (b *bounder) weight(block *ir.Block) int {
	if b.weights[block] > inLoop {
		return perNested
	}
	return 1
}

// within returns what an index is below at a place, false if that is unknown or the index may be negative.
func (b *bounder) within(index analysis.Polynomial, at analysis.Point) (analysis.Polynomial, bool) {
	least, ok1 := b.extreme(index, at, false)
	most, ok2 := b.extreme(index, at, true)
	end, ok3 := most.Plus(analysis.Constant(1))
	return end, ok1 && ok2 && ok3 && b.positive(least, at) && b.demandAll(end, at) && b.holdBack(end, at)
}

// extreme returns the most or the least that a polynomial can be at a place.
func (b *bounder) extreme(p analysis.Polynomial, at analysis.Point, most bool) (analysis.Polynomial, bool) {
	var sum analysis.Polynomial
	for factors, times := range p.Terms() {
		x := analysis.Constant(times)
		for _, v := range factors {
			y, ok := b.end(v, at, most == (times > 0))
			if ok {
				x, ok = x.Times(y)
			}
			if !ok {
				return sum, false
			}
		}
		var ok bool
		if sum, ok = sum.Plus(x); !ok {
			return sum, false
		}
	}
	return sum, true
}

// end returns the most or the least that v can be, false if it can be negative.
func (b *bounder) end(v *ir.Value, at analysis.Point, most bool) (analysis.Polynomial, bool) {
	r := b.at(v, at)
	if launched(v, maxDepth) {
		return analysis.Whole(v), b.demand(v, 0, at)
	}
	switch {
	case v.Op == ir.OpZExt && v.Args[0].Op == ir.OpNCtaid:
		return analysis.Whole(b.blocks(v.Args[0])), true
	case v.Op == ir.OpZExt && v.Args[0].Op == ir.OpNTid && b.realBlock:
		return analysis.Whole(b.threads(v.Args[0])), true
	}
	if limit := b.clamp(v, at); limit != nil {
		return b.clamped(limit, at, most)
	}
	switch {
	case r.Lo < 0:
		return analysis.Polynomial{}, false
	case !most:
		return analysis.Constant(min(r.Lo, maxAddend)), true
	}
	if limit := b.limit(v, at); limit != nil {
		return b.under(v, limit, at)
	}
	switch {
	case v.Op == ir.OpZExt && v.Args[0].Op == ir.OpCtaid:
		return analysis.Whole(b.blocks(v.Args[0])).Plus(analysis.Constant(-1))
	case v.Op == ir.OpZExt && v.Args[0].Op == ir.OpTid && b.realBlock && r.Hi == b.ranges.At(v.Args[0], analysis.Point{Block: b.f.Blocks[0]}).Hi:
		return analysis.Whole(b.threads(v.Args[0])).Plus(analysis.Constant(-1))
	case r.Hi <= maxAddend:
		return analysis.Constant(r.Hi), true
	case v.Op == ir.OpPhi:
		return b.counter(v)
	case combines(v):
		return b.parts(v, at, most)
	}
	return analysis.Polynomial{}, false
}

// under returns the most that v can be at a place, which is less than the limit, or than another one that is lower by a
// constant: one less again where it is known not to be that.
func (b *bounder) under(v, limit *ir.Value, at analysis.Point) (analysis.Polynomial, bool) {
	most := b.exact(limit, at)
	for f := range b.about(v, at) {
		if other := b.below(f, v, at); other != nil && exceedsBy(most, b.exact(other, at)) > 0 {
			most = b.exact(other, at)
		}
	}
	most, ok := most.Plus(analysis.Constant(-1))
	for f := range b.about(v, at) {
		if x := differs(f, v); x != nil && launched(x, maxDepth) && ok {
			if d, fits := most.Minus(b.exact(x, at)); fits && d.IsConstant(0) {
				most, ok = most.Plus(analysis.Constant(-1))
			}
		}
	}
	return most, ok
}

// exceedsBy returns p-q if that is a constant, or 0.
func exceedsBy(p, q analysis.Polynomial) int64 {
	d, ok := p.Minus(q)
	for factors, times := range d.Terms() {
		if len(factors) > 0 || !ok {
			return 0
		}
		return times // which is the last term
	}
	return 0
}

// exact returns the polynomial that v is, which is launched, as integers that do not wrap around.
func (b *bounder) exact(v *ir.Value, at analysis.Point) analysis.Polynomial {
	p, ok := analysis.NewPolynomial(v)
	if !ok || b.size(p, at, math.MaxInt64) >= maxSum {
		return analysis.Whole(v)
	}
	return p
}

// differs returns what the fact says that v is not, or nil.
func differs(f analysis.Fact, v *ir.Value) *ir.Value {
	if c := f.Cond; c.Op == ir.OpNe && f.Holds || c.Op == ir.OpEq && !f.Holds {
		if c.Args[0] == v {
			return c.Args[1]
		}
		return c.Args[0]
	}
	return nil
}

// limit returns a number that is launched and that v is compared to be below, or nil.
func (b *bounder) limit(v *ir.Value, at analysis.Point) *ir.Value {
	for f := range b.about(v, at) {
		if limit := b.below(f, v, at); limit != nil {
			return limit
		}
	}
	return nil
}

// below returns a number that is launched and that the fact says v is less than, or nil.
func (b *bounder) below(f analysis.Fact, v *ir.Value, at analysis.Point) *ir.Value {
	c := f.Cond
	var limit *ir.Value
	switch {
	case (c.Op == ir.OpSLt || c.Op == ir.OpULt) && f.Holds && c.Args[0] == v:
		limit = c.Args[1]
	case (c.Op == ir.OpSLe || c.Op == ir.OpULe) && !f.Holds && c.Args[1] == v:
		limit = c.Args[0]
	}
	unsigned := c.Op == ir.OpULt || c.Op == ir.OpULe
	if limit == nil || b.tested[c] || !launched(limit, maxDepth) || unsigned && b.ranges.At(limit, at).Lo < 0 {
		return nil
	}
	return limit
}

// counter returns a number that a phi does not exceed because on each way to it its argument is below a parameter; what
// the counter is a multiple of makes it less.
func (b *bounder) counter(phi *ir.Value) (analysis.Polynomial, bool) {
	var limit *ir.Value
	for i, a := range phi.Args {
		x := b.enters(single(a), phi.Block.Preds[i], phi.Block)
		switch {
		case x != nil && (limit == nil || limit == x):
			limit = x
		case x != nil || !isConst(single(a)):
			return analysis.Polynomial{}, false
		}
	}
	if limit == nil {
		return analysis.Polynomial{}, false
	}
	for i, a := range phi.Args { // a start that nothing compares must be below what the parameter is at least
		from := phi.Block.Preds[i]
		if a := single(a); b.enters(a, from, phi.Block) == nil && b.ranges.At(limit, analysis.End(from)).Lo <= a.Imm {
			return analysis.Polynomial{}, false
		}
	}
	if n := b.align.Of(phi); n > 1 {
		return analysis.Whole(b.rounded(limit, n)), true
	}
	return b.exact(limit, analysis.Point{Block: phi.Block}).Plus(analysis.Constant(-1))
}

// single returns what a phi of one argument stands for.
func single(v *ir.Value) *ir.Value {
	for v.Op == ir.OpPhi && len(v.Args) == 1 {
		v = v.Args[0]
	}
	return v
}

// enters returns the parameter that v is compared to be below at the end of one block, on the way to the other, or nil.
func (b *bounder) enters(v *ir.Value, from, to *ir.Block) *ir.Value {
	t := from.Term()
	if t.Op != ir.OpIf || from.Succs[0] == from.Succs[1] {
		return nil
	}
	for _, f := range analysis.Implied(analysis.Fact{Cond: t.Args[0], Holds: from.Succs[0] == to}) {
		if limit := b.below(f, v, analysis.End(from)); limit != nil {
			return limit
		}
	}
	return nil
}

// blocks returns the number of blocks along the axis of ctaid, or nctaid.
func (b *bounder) blocks(ctaid *ir.Value) *ir.Value {
	key := made{axis: ctaid.Imm}
	if b.made[key] == nil {
		in := b.f.Blocks[0]
		n := in.Make(ir.OpNCtaid, ir.I32)
		n.Imm = ctaid.Imm
		b.made[key] = in.Make(ir.OpZExt, ir.I64, n)
		b.upTo[b.made[key]] = b.mostBlocks(ctaid)
	}
	return b.made[key]
}

// threads returns the number of threads of a block along the axis of tid, or ntid, which the launcher knows.
func (b *bounder) threads(tid *ir.Value) *ir.Value {
	key := made{axis: tid.Imm, threads: true}
	if b.made[key] == nil {
		in := b.f.Blocks[0]
		n := in.Make(ir.OpNTid, ir.I32)
		n.Imm = tid.Imm
		b.made[key] = in.Make(ir.OpZExt, ir.I64, n)
		b.upTo[b.made[key]] = b.ranges.At(tid, analysis.Point{Block: in}).Hi + 1
	}
	return b.made[key]
}

// mostBlocks returns how many blocks there can be along the axis of ctaid: the threads of a narrow grid are counted in 31
// bits.
func (b *bounder) mostBlocks(ctaid *ir.Value) int64 {
	most := b.ranges.At(ctaid, analysis.Point{Block: b.f.Blocks[0]}).Hi + 1
	if b.f.Narrow {
		most = min(most, 1<<31/int64(max(1, b.f.Block[ctaid.Imm])))
	}
	return most
}

// rounded returns limit-1, rounded down to a multiple of n, which is a power of two.
func (b *bounder) rounded(limit *ir.Value, n int64) *ir.Value {
	key := made{limit: limit, round: n}
	if b.made[key] == nil {
		in := b.f.Blocks[0]
		one, mask := in.Make(ir.OpConst, ir.I64), in.Make(ir.OpConst, ir.I64)
		one.Imm, mask.Imm = -1, -n
		b.made[key] = in.Make(ir.OpAnd, ir.I64, in.Make(ir.OpAdd, ir.I64, limit, one), mask)
		b.upTo[b.made[key]] = b.ranges.At(limit, analysis.Point{Block: in}).Hi
	}
	return b.made[key]
}

// rangeOf returns what a factor of a bound can be at a place.
func (b *bounder) rangeOf(v *ir.Value, at analysis.Point) analysis.Range {
	if hi, ok := b.upTo[v]; ok {
		return analysis.Range{Lo: 0, Hi: hi}
	}
	r := b.at(v, at)
	if least, ok := b.least[v]; ok {
		r.Lo = max(r.Lo, least)
	}
	return r
}

// positive reports whether p is not negative because nothing in it is.
func (b *bounder) positive(p analysis.Polynomial, at analysis.Point) bool {
	for factors, times := range p.Terms() {
		if times < 0 {
			return false
		}
		for _, v := range factors {
			if b.rangeOf(v, at).Lo < 0 {
				return false
			}
		}
	}
	return true
}

// multiplies reports whether there is a product of two values in p.
func (b *bounder) multiplies(p analysis.Polynomial) bool {
	for factors := range p.Terms() {
		if len(factors) > 1 {
			return true
		}
	}
	return false
}

// cap returns what a factor is tested to be below.
func (b *bounder) cap(v *ir.Value) int64 {
	if c, ok := b.caps[v]; ok {
		return c
	}
	return math.MaxInt64
}

// size returns what no term of p, nor their sum, exceeds, where no value is above a number.
func (b *bounder) size(p analysis.Polynomial, at analysis.Point, highest int64) float64 {
	sum := 0.0
	for factors, times := range p.Terms() {
		x := math.Abs(float64(times))
		for _, v := range factors {
			r := b.rangeOf(v, at)
			x *= min(max(math.Abs(float64(r.Lo)), math.Abs(float64(r.Hi))), float64(b.cap(v)), float64(highest))
		}
		sum += x
	}
	return sum
}

// holdBack sees to it that p does not overflow at a place: it notes what must be tested for that. False is returned where
// that does not do, or a factor may be negative.
func (b *bounder) holdBack(p analysis.Polynomial, at analysis.Point) bool {
	for factors := range p.Terms() {
		for _, v := range factors {
			if b.rangeOf(v, at).Lo < 0 {
				return false
			}
		}
	}
	for _, highest := range []int64{math.MaxInt64, 1 << 29, 1 << 19, 1 << 14} {
		if b.size(p, at, highest) >= maxSum {
			continue
		}
		for factors := range p.Terms() {
			for _, v := range factors {
				if highest < min(b.cap(v), b.rangeOf(v, at).Hi) {
					b.caps[v] = highest
				}
			}
		}
		return true
	}
	return false
}

// note adds a bound to those that are tested, unless one of them is not below it, wherever either is needed.
func (b *bounder) note(x bound) {
	for i, y := range b.bounds {
		if x.length != y.length {
			continue
		}
		if b.covers(y, x) {
			b.bounds[i].places = append(y.places, x.places...)
			return
		}
		if b.covers(x, y) {
			b.bounds[i] = bound{x.end, x.length, append(y.places, x.places...)}
			return
		}
	}
	b.bounds = append(b.bounds, x)
}

// covers reports whether x is not below y, and does not overflow, where y is needed.
func (b *bounder) covers(x, y bound) bool {
	d, ok := x.end.Minus(y.end)
	return ok && d.Increases() && !slices.ContainsFunc(y.places, func(at analysis.Point) bool { return !b.holdBack(x.end, at) })
}

// maxChosen is how many choices between two values an index may contain.
const maxChosen = 2

// ends returns what an index is below at a place: one number, or one for each of the values that may have been chosen for it. It
// reports false if one is unknown, or the index may be negative.
func (b *bounder) ends(p analysis.Polynomial, at analysis.Point, depth int) ([]analysis.Polynomial, bool) {
	v := b.choice(p, at)
	if v == nil {
		end, ok := b.within(p, at)
		return []analysis.Polynomial{end}, ok
	}
	if depth == 0 {
		return nil, false
	}
	var all []analysis.Polynomial
	for i, x := range v.Args[len(v.Args)-2:] {
		n := len(b.assumed)
		if v.Op == ir.OpSelect {
			b.assumed = append(b.assumed, analysis.Fact{Cond: v.Args[0], Holds: i == 0, Where: at})
		}
		var some []analysis.Polynomial
		q, ok := b.chosen(p, v, single(x), at)
		if ok {
			some, ok = b.ends(q, at, depth-1)
		}
		b.assumed = b.assumed[:n]
		if !ok {
			return nil, false
		}
		all = append(all, some...)
	}
	return all, true
}

// chosen returns p where v is x.
func (b *bounder) chosen(p analysis.Polynomial, v, x *ir.Value, at analysis.Point) (analysis.Polynomial, bool) {
	q, ok := b.expand(x, at)
	if !ok {
		return q, false
	}
	return substitute(p, func(w *ir.Value) analysis.Polynomial {
		if w == v {
			return q
		}
		return analysis.Whole(w)
	})
}

// choice returns a select, or a phi that is none of a loop, in p that has no limit itself, or nil.
func (b *bounder) choice(p analysis.Polynomial, at analysis.Point) *ir.Value {
	before := maps.Clone(b.least)
	defer func() { b.least = before }()
	for factors := range p.Terms() {
		for _, v := range factors {
			if v.Type.Kind != ir.KindI64 || v.Op != ir.OpSelect && !b.joins(v) {
				continue
			}
			if _, ok := b.end(v, at, true); !ok {
				return v
			}
		}
	}
	return nil
}

// joins reports whether v is a phi of two values where paths meet that are not those of a loop.
func (b *bounder) joins(v *ir.Value) bool {
	return v.Op == ir.OpPhi && len(v.Args) == 2 && !slices.ContainsFunc(v.Block.Preds, func(p *ir.Block) bool { return b.dom.Dominates(v.Block, p) })
}

// at returns what v can be at a place, where the choices that are looked at have been made.
func (b *bounder) at(v *ir.Value, p analysis.Point) analysis.Range {
	r := b.ranges.At(v, p)
	for _, f := range b.assumed {
		x := b.ranges.Given(f, v, p)
		r = analysis.Range{Lo: max(r.Lo, x.Lo), Hi: min(r.Hi, x.Hi)}
	}
	if r.Empty() {
		return b.ranges.At(v, p)
	}
	return r
}

// about yields the facts that compare v at a place, and those of the choices that are looked at.
func (b *bounder) about(v *ir.Value, p analysis.Point) iter.Seq[analysis.Fact] {
	return func(yield func(analysis.Fact) bool) {
		for f := range b.ranges.Facts.About(v, p) {
			if !yield(f) {
				return
			}
		}
		for _, chosen := range b.assumed {
			for _, f := range analysis.Implied(chosen) {
				if len(f.Cond.Args) == 2 && slices.Contains(f.Cond.Args, v) && !yield(f) {
					return
				}
			}
		}
	}
}

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
		if c, ok := analysis.IntConst(a); ok && c == 0 {
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
