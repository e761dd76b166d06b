package pass

import (
	"fmt"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	maxBounded = 300           // values of a kernel that is copied
	minBounded = 2             // checks that must be saved for it
	maxMost    = 1<<63 - 1<<40 // that no bound exceeds, so that none overflows
	maxAddend  = 1 << 16       // of what an index is a sum of
	maxDepth   = 8
)

// boundChecks tests at the start of a kernel what the lengths of slices must be for its indices to be in range wherever the
// branches around them are taken: y*n+x is below n*n where x and y are below n, by comparisons, as counters of loops or
// because the grid has no more threads. If they are, the kernel runs without
// those checks, else a copy with them does. All threads decide alike, as the test takes parameters alone, so that
// barriers stay where all come to. Behind the test the indices are known to fit 32 bits where the lengths do.
func boundChecks(f *ir.Func, _ *Options) {
	if !f.Kernel || f.NumValues() > 20*maxBounded || !copyable(f) {
		return
	}
	dom := ir.Dominators(f)
	b := &bounder{f: f, dom: dom, ranges: analysis.NewRanges(dom), align: analysis.NewAlignment(dom, 1)}
	for _, block := range dom.Order() {
		for i, v := range block.Values {
			if v.Op == ir.OpCheck && !block.Cold {
				b.look(v, analysis.Place{Block: block, Index: i})
			}
		}
	}
	if len(b.checks) >= minBounded {
		b.apply()
	}
}

// copyable reports whether there is no value of f that cannot be there twice, and not too many.
func copyable(f *ir.Func) bool {
	n := 0
	for _, b := range f.Blocks {
		n += len(b.Values)
		if hasProduct(b) || slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpAlloca }) {
			return false
		}
	}
	return n <= maxBounded
}

type bounder struct {
	f      *ir.Func
	dom    *ir.Dom
	ranges *analysis.Ranges
	align  *analysis.Alignment
	checks []bounded
}

// bounded is a check whose index is at most some number.
type bounded struct {
	check *ir.Value
	most  *most
}

// most is a number that parameters and the grid decide: a value plus a constant, rounded down to a multiple where that is
// said, a constant, or a sum or product of two.
type most struct {
	op    ir.Op // OpAdd or OpMul of x and y; else OpInvalid
	x, y  *most
	value *ir.Value // or the index of a block, for the number of blocks
	off   int64
	round int64          // or 0
	upTo  analysis.Range // what it can be, if the branches around the check are taken
	last  bool           // it is the index of the last thread, or what that is computed from
}

// look notes the check where its index has a bound with a product, and its length is a parameter's.
func (b *bounder) look(check *ir.Value, at analysis.Place) {
	c := check.Args[0]
	if c.Op != ir.OpULt || c.Args[0].Type.Bits() != 64 || !launched(c.Args[1], maxDepth) {
		return
	}
	if m := b.bound(c.Args[0], at, maxDepth); m != nil && m.multiplies() {
		b.checks = append(b.checks, bounded{check, m})
	}
}

// multiplies reports whether there is a product of two values in m.
func (m *most) multiplies() bool {
	switch m.op {
	case ir.OpMul:
		return m.x.varies() && m.y.varies() || m.x.multiplies() || m.y.multiplies()
	case ir.OpAdd:
		return m.x.multiplies() || m.y.multiplies()
	}
	return false
}

func (m *most) varies() bool {
	return m.op != ir.OpInvalid && (m.x.varies() || m.y.varies()) || m.op == ir.OpInvalid && m.value != nil
}

// launched reports whether v is computed from parameters alone.
func launched(v *ir.Value, depth int) bool {
	switch {
	case v.Op == ir.OpParam || isConst(v):
		return true
	case depth == 0 || !v.Op.Pure() || len(v.Args) == 0:
		return false
	}
	return !slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return !launched(a, depth-1) })
}

// bound returns a number that v, which is not negative, does not exceed at a place, or nil.
func (b *bounder) bound(v *ir.Value, at analysis.Place, depth int) *most {
	r := b.ranges.At(v, at)
	if r.Lo < 0 || depth == 0 {
		return nil
	}
	m := b.boundOf(v, r, at, depth)
	if m != nil && m.last && b.f.Narrow && analysis.ThreadAxis(v) >= 0 { // a narrow grid has no more threads
		m.upTo.Hi = min(m.upTo.Hi, math.MaxInt32)
	}
	return m
}

func (b *bounder) boundOf(v *ir.Value, r analysis.Range, at analysis.Place, depth int) *most {
	upTo := analysis.Range{Lo: 0, Hi: r.Hi}
	switch {
	case v.Op == ir.OpZExt && v.Args[0].Op == ir.OpCtaid:
		all := b.ranges.At(v.Args[0], analysis.Place{Block: b.f.Blocks[0]}) // also of blocks that do not come here
		return &most{value: v.Args[0], off: -1, upTo: analysis.Range{Lo: 0, Hi: all.Hi}, last: true}
	case isConst(v) || r.Hi <= maxAddend:
		tid := v.Op == ir.OpZExt && v.Args[0].Op == ir.OpTid && b.f.Block != [3]int{}
		return &most{off: r.Hi, upTo: upTo, last: isConst(v) || tid}
	case launched(v, maxDepth):
		return &most{value: v, upTo: r}
	}
	for f := range b.ranges.Facts.About(v, at) {
		if limit := b.below(f, v, at); limit != nil {
			return &most{value: limit, off: -1, upTo: analysis.Range{Lo: 0, Hi: b.ranges.At(limit, at).Hi}}
		}
	}
	switch v.Op {
	case ir.OpPhi:
		return b.counter(v, at)
	case ir.OpAdd, ir.OpMul:
		return b.both(v.Op, b.bound(v.Args[0], at, depth-1), b.bound(v.Args[1], at, depth-1))
	case ir.OpShl:
		if n, ok := intConst(v.Args[1]); ok && n >= 0 && n < 16 {
			times := &most{off: 1 << n, upTo: analysis.Range{Lo: 0, Hi: 1 << n}, last: true}
			return b.both(ir.OpMul, b.bound(v.Args[0], at, depth-1), times)
		}
	}
	return nil
}

// counter returns a number that a phi does not exceed because on each way to it its argument is below a parameter; what
// the counter is a multiple of makes it less.
func (b *bounder) counter(phi *ir.Value, at analysis.Place) *most {
	var limit *ir.Value
	for i, a := range phi.Args {
		from := phi.Block.Preds[i]
		a = single(a)
		x := b.enters(a, from, phi.Block)
		switch {
		case x != nil && (limit == nil || limit == x):
			limit = x
		case x != nil || !isConst(a):
			return nil
		}
	}
	if limit == nil {
		return nil
	}
	for i, a := range phi.Args { // a start that nothing compares must be below what the parameter is at least
		from := phi.Block.Preds[i]
		a = single(a)
		if b.enters(a, from, phi.Block) == nil && b.ranges.At(limit, analysis.End(from)).Lo <= a.Imm {
			return nil
		}
	}
	m := &most{value: limit, off: -1, upTo: analysis.Range{Lo: 0, Hi: b.ranges.At(limit, at).Hi}}
	if n := b.align.Of(phi); n > 1 {
		m.round = n
	}
	return m
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

// both returns the sum or product, unless that can overflow.
func (b *bounder) both(op ir.Op, x, y *most) *most {
	if x == nil || y == nil || x.upTo.Hi > maxMost-y.upTo.Hi {
		return nil
	}
	hi := x.upTo.Hi + y.upTo.Hi
	if op == ir.OpMul {
		if y.upTo.Hi > 0 && x.upTo.Hi > maxMost/y.upTo.Hi {
			return nil
		}
		hi = x.upTo.Hi * y.upTo.Hi
	}
	return &most{op: op, x: x, y: y, upTo: analysis.Range{Lo: 0, Hi: hi}, last: x.last && y.last}
}

// below returns a number that is launched and that the fact says v is less than, or nil.
func (b *bounder) below(f analysis.Fact, v *ir.Value, at analysis.Place) *ir.Value {
	c := f.Cond
	var limit *ir.Value
	switch {
	case (c.Op == ir.OpSLt || c.Op == ir.OpULt) && f.Holds && c.Args[0] == v:
		limit = c.Args[1]
	case (c.Op == ir.OpSLe || c.Op == ir.OpULe) && !f.Holds && c.Args[1] == v:
		limit = c.Args[0]
	}
	unsigned := c.Op == ir.OpULt || c.Op == ir.OpULe
	if limit == nil || !launched(limit, maxDepth) || unsigned && b.ranges.At(limit, at).Lo < 0 {
		return nil
	}
	return limit
}

// apply puts the test in front of the kernel and a copy of it.
func (b *bounder) apply() {
	body := slices.Clone(b.f.Blocks)
	copied := &cloner{f: b.f, values: map[*ir.Value]*ir.Value{}, blocks: map[*ir.Block]*ir.Block{}}
	copied.clone(body)
	entry := b.f.NewBlock()
	e := &editor{b: entry, pos: b.checks[0].check.Pos}
	made := map[*ir.Value]*ir.Value{}
	var ok *ir.Value
	said := map[string]bool{}
	for _, c := range b.checks {
		length := c.check.Args[0].Args[1]
		key := fmt.Sprintf("%v < %d", c.most, length.ID)
		if said[key] {
			continue
		}
		said[key] = true
		t := e.make(ir.OpULt, ir.I1, c.most.make(e, made), again(e, length, made))
		if ok != nil {
			t = e.make(ir.OpAnd, ir.I1, ok, t)
		}
		ok = t
	}
	e.make(ir.OpIf, ir.Void, ok)
	entry.Values = e.out
	entry.AddEdge(body[0])
	entry.AddEdge(copied.blocks[body[0]])
	rest := b.f.Blocks[len(body) : len(b.f.Blocks)-1]
	for _, x := range rest {
		x.Cold = true
	}
	b.f.Blocks = slices.Concat([]*ir.Block{entry}, body, slices.Clone(rest))
	for _, c := range b.checks {
		b.drop(c.check)
	}
}

// String tells numbers apart.
func (m *most) String() string {
	switch {
	case m.op != ir.OpInvalid:
		return fmt.Sprintf("%v(%v, %v)", m.op, m.x, m.y)
	case m.value == nil:
		return fmt.Sprint(m.off)
	}
	return fmt.Sprintf("%%%d%+d/%d", m.value.ID, m.off, m.round)
}

// make computes m.
func (m *most) make(e *editor, made map[*ir.Value]*ir.Value) *ir.Value {
	switch {
	case m.op != ir.OpInvalid:
		return e.make(m.op, ir.I64, m.x.make(e, made), m.y.make(e, made))
	case m.value == nil:
		return e.constant(ir.I64, m.off)
	}
	x := m.value
	if x.Op == ir.OpCtaid {
		x = e.make(ir.OpZExt, ir.I64, e.makeImm(ir.OpNCtaid, ir.I32, x.Imm))
	} else {
		x = again(e, x, made)
	}
	if m.off != 0 {
		x = e.make(ir.OpAdd, ir.I64, x, e.constant(ir.I64, m.off))
	}
	if m.round > 1 {
		x = e.make(ir.OpAnd, ir.I64, x, e.constant(ir.I64, -m.round))
	}
	return x
}

// again computes v, which is launched.
func again(e *editor, v *ir.Value, made map[*ir.Value]*ir.Value) *ir.Value {
	if v.Op == ir.OpParam {
		return v
	}
	if made[v] == nil {
		var args []*ir.Value
		for _, a := range v.Args {
			args = append(args, again(e, a, made))
		}
		made[v] = e.makeImm(v.Op, v.Type, v.Imm, args...)
		made[v].Aux = v.Aux
	}
	return made[v]
}

// drop removes a check, and computes its index in 32 bits behind where the length has no more.
func (b *bounder) drop(check *ir.Value) {
	block, index := check.Block, check.Args[0].Args[0]
	i := slices.Index(block.Values, check)
	length := b.ranges.At(check.Args[0].Args[1], b.ranges.Facts.PlaceOf(check))
	if length.Lo < 0 || length.Hi > math.MaxUint32 {
		block.Values = slices.Delete(block.Values, i, i+1)
		return
	}
	e := &editor{b: block, pos: check.Pos}
	short := e.make(ir.OpZExt, ir.I64, (&halver{e: e, made: map[*ir.Value]*ir.Value{}}).half(index, maxHalved))
	behind := block.Values[i+1:]
	block.Values = slices.Concat(block.Values[:i], e.out, behind)
	for _, x := range b.dom.Order() {
		values := x.Values
		switch {
		case x == block:
			values = behind
		case !b.dom.Dominates(block, x):
			continue
		}
		for _, v := range values {
			if v.Op == ir.OpIndex && v.Args[1] == index {
				v.Args[1] = short
			}
		}
	}
}
