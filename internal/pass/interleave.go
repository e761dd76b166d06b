package pass

import (
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

const (
	interleaved    = 4  // iterations that are executed together
	maxInterleaved = 48 // values of a loop that is copied; in a larger one, arithmetic hides the memory's latency
)

// interleave executes four iterations together of innermost loops that have an unknown trip count,
// load from memory and store nothing, so that the loads of all four are in flight at once. First
// come the checks that depend on no load, of all four iterations, as one; then the loads guarded by
// them; then the checks on what has been loaded, and so on; the sums come last, in the order of the
// iterations. If a check fails, nothing has happened yet: the original loop, which also does the
// last iterations, continues from the first of the four and finds out which one.
func interleave(f *ir.Func, _ *Options) (changed bool) {
	edit.AddPreheaders(f)
	dom := ir.Dominators(f)
	ranges := analysis.NewRanges(dom)
	nest := analysis.Loops(dom)
	for _, l := range nest {
		b := &interleaver{loop: l, body: l.Header, ranges: ranges, stage: map[*ir.Value]int{}}
		if isInnermost(nest, l) && tripCount(l) == 0 && b.fits() && b.counter() && b.stages() {
			note(l, ir.Joined, interleaved)
			b.apply()
			changed = true
		}
	}
	return changed
}

// An interleaver handles one loop, which has a single block and the induction variable iv: the next
// one, iv plus step, is compared with bound.
type interleaver struct {
	loop            *analysis.Loop
	body            *ir.Block
	ranges          *analysis.Ranges
	iv, step, bound *ir.Value

	steers map[*ir.Value]bool // values that addresses and checks depend on
	// stage has the stage in which a steering value, a load or a check is computed: a stage
	// begins after the checks of those before it.
	stage map[*ir.Value]int
	last  int // the stage in which all else is computed

	blocks []*ir.Block // of the stages
	copies [interleaved]map[*ir.Value]*ir.Value
	next   map[*ir.Value]*ir.Value // what the loop's phis are in the next iteration
}

// fits reports whether the loop has one small block, which loads from global memory and has no
// observable effects.
func (b *interleaver) fits() bool {
	l := b.loop
	if len(l.Blocks) != 1 || b.body.Cold || l.Preheader() == nil || size(l) > maxInterleaved {
		return false
	}
	far := false
	for _, v := range b.body.Values {
		switch v.Op {
		case ir.OpPhi, ir.OpCheck, ir.OpIf:
		case ir.OpLoad:
			space := v.Args[0].Type.Space
			far = far || space == ir.Global || space == ir.Generic
			if isAggregate(v.Type) || space == ir.Local {
				return false
			}
		default:
			if !v.Op.Pure() {
				return false
			}
		}
	}
	return far
}

// counter recognises the loop's induction variable.
func (b *interleaver) counter() bool {
	c, ok := b.loop.Counter()
	if !ok || c.Phi.Type.Bits() < 32 {
		return false
	}
	s := b.ranges.At(c.Step, b.ranges.Facts.PointOf(c.Next))
	b.iv, b.step, b.bound = c.Phi, c.Step, c.Bound
	return s.Lo > 0 && s.Hi <= math.MaxInt64/8
}

func (b *interleaver) invariant(v *ir.Value) bool { return v.Block != b.body }

// increment returns the invariant that the phi grows or shrinks by to become next, or nil.
func (b *interleaver) increment(phi, next *ir.Value) *ir.Value {
	if next == nil || next.Op != ir.OpAdd && next.Op != ir.OpSub {
		return nil
	}
	for i, a := range next.Args {
		if a == phi && b.invariant(next.Args[1-i]) && (i == 0 || next.Op == ir.OpAdd) {
			return next.Args[1-i]
		}
	}
	return nil
}

// stages gives every load, every check and what they depend on its stage. It reports whether a load
// can be trusted to need no check but those of the stages before its own: the checks of earlier
// iterations are among them where they depend on no load. What else they might say of a later iteration
// would have to pass through a phi, so the phis that steer are counters, and checks on what was
// loaded depend on no phi.
func (b *interleaver) stages() bool {
	b.steers = map[*ir.Value]bool{}
	for _, v := range b.body.Values {
		if (v.Op == ir.OpLoad || v.Op == ir.OpCheck) && !b.steer(v.Args[0]) {
			return false
		}
	}
	behind, first := 0, b.checksCounters()
	for _, v := range b.body.Values {
		switch {
		case v.Op == ir.OpCheck:
			s := b.stage[v.Args[0]]
			if s > 0 && b.counts(v.Args[0]) {
				return false
			}
			b.stage[v], behind = s, max(behind, s+1)
			b.last = max(b.last, s+1)
		case v.Op == ir.OpLoad:
			b.stage[v] = max(b.stage[v.Args[0]], behind, first)
			b.last = max(b.last, b.stage[v])
		case b.steers[v] && v.Op != ir.OpPhi:
			b.stage[v] = 0 // that of a constant, which has no arguments
			for _, a := range v.Args {
				b.stage[v] = max(b.stage[v], b.stage[a])
			}
		}
	}
	return true
}

// checksCounters returns 1 where a check depends on no load, else 0.
func (b *interleaver) checksCounters() int {
	for _, v := range b.body.Values {
		if v.Op == ir.OpCheck && !b.depends(v.Args[0], func(a *ir.Value) bool { return a.Op == ir.OpLoad }) {
			return 1
		}
	}
	return 0
}

// counts reports whether v depends on a phi by other ways than loads.
func (b *interleaver) counts(v *ir.Value) bool {
	return v.Op != ir.OpLoad && b.depends(v, func(a *ir.Value) bool { return a.Op == ir.OpPhi })
}

// depends reports whether v is, or is computed in the loop without loads from, what the function holds for.
func (b *interleaver) depends(v *ir.Value, is func(*ir.Value) bool) bool {
	seen := map[*ir.Value]bool{}
	var from func(v *ir.Value) bool
	from = func(v *ir.Value) bool {
		if b.invariant(v) || seen[v] {
			return false
		}
		seen[v] = true
		return is(v) || v.Op != ir.OpLoad && v.Op != ir.OpPhi && slices.ContainsFunc(v.Args, from)
	}
	return from(v)
}

// steer notes v and what it depends on; false if that is a phi that is not a counter.
func (b *interleaver) steer(v *ir.Value) bool {
	if b.invariant(v) || b.steers[v] {
		return true
	}
	b.steers[v] = true
	if v.Op == ir.OpPhi {
		_, next := b.loop.PhiArgs(v)
		if b.increment(v, next) == nil {
			return false
		}
		b.steers[next] = true // whose arguments are the phi and an invariant
		return true
	}
	for _, a := range v.Args {
		if !b.steer(a) {
			return false
		}
	}
	return true
}

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
			case v.Op == ir.OpStore: // of what is used after the loop
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
