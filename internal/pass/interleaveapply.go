package pass

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// apply inserts the blocks of the four iterations before the loop: one for each stage, and rest, which
// decides what is left for the loop itself. They run while the counter is below a limit.
func (b *interleaver) apply() {
	edit.DemoteLiveOuts(b.loop)
	f, entry := b.body.Func, b.loop.Preheader()
	exit := b.body.Succs[1]
	for range b.last + 1 {
		b.blocks = append(b.blocks, f.NewBlock())
	}
	rest := f.NewBlock()
	for _, x := range b.blocks {
		x.Apart = b.body.Apart
	}

	less := b.body.Term().Args[0].Op
	start, _ := b.loop.PhiArgs(b.iv)
	var limit *ir.Value
	many := atEnd(entry, func(e *editor) *ir.Value {
		limit = b.limit(e, less, start)
		return e.make(less, ir.I1, start, limit)
	})
	b.copyPhis(entry)
	edit.SetTerm(entry, ir.OpIf, many)
	entry.Succs = nil
	entry.AddEdge(b.blocks[0])
	entry.Succs = append(entry.Succs, b.body) // which knows

	for s := range b.blocks {
		b.copyStage(s)
	}
	final := b.blocks[b.last]
	e := &editor{b: final, out: final.Values, pos: b.body.Term().Pos}
	again := e.make(less, ir.I1, b.in(interleaved, b.iv), limit)
	e.make(ir.OpIf, ir.Void, again)
	final.Values = e.out
	b.edge(final, b.blocks[0], interleaved)
	final.AddEdge(rest)

	rest.Append(ir.OpIf, ir.Void, b.in(interleaved-1, b.body.Term().Args[0])).Pos = e.pos
	b.edge(rest, b.body, interleaved)
	b.edge(rest, exit, interleaved-1)
}

// in returns v in an iteration. For a phi, it is what the previous iteration has computed for it.
func (b *interleaver) in(round int, v *ir.Value) *ir.Value {
	if v.Op == ir.OpPhi && v.Block == b.body && round > 0 {
		return b.in(round-1, b.next[v])
	}
	if m, ok := b.copies[round][v]; ok {
		return m
	}
	return v
}

// copyPhis makes the phis of the first iteration.
func (b *interleaver) copyPhis(entry *ir.Block) {
	k := b.body.PredIndex(entry)
	b.copies[0], b.next = map[*ir.Value]*ir.Value{}, map[*ir.Value]*ir.Value{}
	for _, phi := range b.body.Phis() {
		m := b.blocks[0].Append(ir.OpPhi, phi.Type, phi.Args[k])
		m.Pos = phi.Pos
		b.copies[0][phi] = m
		_, b.next[phi] = b.loop.PhiArgs(phi)
	}
}

// edge adds an edge to a successor of the loop, or to its copy, whose phis get their values in the iteration.
func (b *interleaver) edge(from, to *ir.Block, round int) {
	from.AddEdge(to)
	switch to {
	case b.blocks[0]:
		for i, phi := range b.body.Phis() {
			m := to.Phis()[i]
			m.Args = append(m.Args, b.in(round, phi))
		}
	case b.body:
		for _, phi := range to.Phis() {
			phi.Args = append(phi.Args, b.in(round, phi))
		}
	default:
		k := to.PredIndex(b.body)
		for _, phi := range to.Phis() {
			phi.Args = append(phi.Args, b.in(round, phi.Args[k]))
		}
	}
}

// copyStage fills the block of a stage with the values of all iterations in it.
func (b *interleaver) copyStage(s int) {
	block := b.blocks[s]
	e := &editor{b: block, out: block.Values}
	var all *ir.Value
	for round := range interleaved {
		if b.copies[round] == nil {
			b.copies[round] = map[*ir.Value]*ir.Value{}
		}
		for _, v := range b.body.Values {
			e.pos = v.Pos
			switch {
			case v.Op == ir.OpPhi || v.Op == ir.OpIf:
			case v.Op == ir.OpStore && v.Args[0].Op == ir.OpAlloca: // of what is used after the loop
				if s == b.last && round == interleaved-1 {
					b.again(e, round, v)
				}
			case v.Op == ir.OpCheck:
				if b.stage[v] == s && !b.between(v, round) {
					all = both(e, all, b.in(round, v.Args[0]))
				}
			case b.stageOf(v) == s:
				b.copies[round][v] = b.again(e, round, v)
			}
		}
	}
	block.Values = e.out
	if s == b.last {
		return
	}
	block.Append(ir.OpIf, ir.Void, all).Pos = e.pos
	block.AddEdge(b.blocks[s+1])
	b.edge(block, b.body, 0)
}

func both(e *editor, x, y *ir.Value) *ir.Value {
	if x == nil {
		return y
	}
	return e.make(ir.OpAnd, ir.I1, x, y)
}

// again appends the operation of v in an iteration.
func (b *interleaver) again(e *editor, round int, v *ir.Value) *ir.Value {
	args := make([]*ir.Value, len(v.Args))
	for i, a := range v.Args {
		args[i] = b.in(round, a)
	}
	m := e.makeImm(v.Op, v.Type, v.Imm, args...)
	m.Aux = v.Aux
	return m
}

func (b *interleaver) stageOf(v *ir.Value) int {
	if s, ok := b.stage[v]; ok {
		return s
	}
	return b.last
}

// between reports whether the check holds in all iterations if it does in the first and the last one:
// its index is the counter plus an invariant, which moves by less than 1<<63 from the first to the
// last iteration, and is compared with a length that is not negative.
func (b *interleaver) between(check *ir.Value, round int) bool {
	c := check.Args[0]
	if round == 0 || round == interleaved-1 || c.Op != ir.OpULt || c.Args[0].Type.Bits() != 64 || !b.invariant(c.Args[1]) {
		return false
	}
	return b.moves(c.Args[0]) && b.ranges.At(c.Args[1], b.ranges.Facts.PointOf(check)).Lo >= 0
}

// moves reports whether x is the counter, which does not wrap in these iterations, plus invariants.
func (b *interleaver) moves(x *ir.Value) bool {
	switch {
	case x == b.iv:
		return true
	case b.invariant(x):
		return false
	case x.Op == ir.OpSExt:
		return x.Args[0] == b.iv && b.body.Term().Args[0].Op == ir.OpSLt
	case x.Op == ir.OpAdd:
		return b.invariant(x.Args[0]) && b.moves(x.Args[1]) || b.invariant(x.Args[1]) && b.moves(x.Args[0])
	case x.Op == ir.OpSub:
		return b.invariant(x.Args[1]) && b.moves(x.Args[0])
	}
	return false
}

// limit computes what the counter must be below for the next three to be below the bound, or the
// lowest number where there is none.
func (b *interleaver) limit(e *editor, less ir.Op, start *ir.Value) *ir.Value {
	t, step, bound := b.iv.Type, b.step, b.bound
	lowest := int64(math.MinInt64)
	if t.Bits() == 32 {
		lowest = math.MinInt32
	}
	if less == ir.OpULt || b.ranges.At(start, b.ranges.Facts.PointOf(b.iv)).Lo >= 0 {
		lowest = 0
	}
	if t.Bits() == 32 {
		extend := ir.OpSExt
		if less == ir.OpULt {
			extend = ir.OpZExt
		}
		step, bound = e.make(extend, ir.I64, step), e.make(extend, ir.I64, bound)
	}
	low := e.constant(ir.I64, lowest)
	three := e.make(ir.OpMul, ir.I64, step, e.constant(ir.I64, interleaved-1))
	limit := e.make(ir.OpSub, ir.I64, bound, three)
	var ok *ir.Value
	if less == ir.OpULt && t.Bits() == 64 {
		ok = e.make(ir.OpULt, ir.I1, three, bound)
	} else {
		ok = e.make(ir.OpSLe, ir.I1, limit, bound) // else it has wrapped
		ok = e.make(ir.OpAnd, ir.I1, ok, e.make(ir.OpSLt, ir.I1, low, limit))
	}
	limit = e.make(ir.OpSelect, ir.I64, ok, limit, low)
	if t.Bits() == 32 {
		limit = e.make(ir.OpTrunc, t, limit)
	}
	return limit
}
