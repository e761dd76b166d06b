package pass

import (
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// maxCallStep bounds the step of a counter, so that a few of them cannot overflow.
const maxCallStep = 1 << 16

// unrollCalls unrolls by four innermost loops of unknown trip count that contain divisions or square roots: ptxas makes calls of
// those, and does not unroll a loop with calls. Four iterations follow each other while the counter is below the bound less three
// steps; the loop itself does the rest.
//
//	                          b9: if 0 < n-3 b1 b5
//	b1: i = phi 0, j      ->  b1: i = phi 0, i4        three more copies of the body follow, without tests
//	    ...                       if i4 < n-3 b1 b6
//	    j = i+1               b6: if i4 < n b5 b2
//	    if j < n b1 b2        b5: the loop
func unrollCalls(f *ir.Func, _ *Options) (changed bool) {
	dom := ir.Dominators(f)
	nest := analysis.Loops(dom)
	for _, l := range nest {
		u := &callUnroller{loop: l}
		if isInnermost(nest, l) && tripCount(l) == 0 && u.fits() && u.counter() {
			note(l, ir.Joined, partialFactor)
			u.apply()
			changed = true
		}
	}
	return changed
}

// A callUnroller handles one loop, which runs while iv plus step is below bound.
type callUnroller struct {
	loop      *analysis.Loop
	latch     *ir.Block
	iv, bound *ir.Value
	step      int64
	copies    [partialFactor]struct{ header, latch *ir.Block }
	last      *ir.Value // what the counter is after the copies
}

// fits reports whether the loop is small, contains calls, and ends at its latch alone.
func (u *callUnroller) fits() bool {
	l := u.loop
	if l.Preheader() == nil || len(l.Latches) != 1 || len(l.Exits()) != 1 || l.Header.Cold || size(l) > maxPartial || hasConvergent(l) {
		return false
	}
	u.latch = l.Latches[0]
	has := false
	independent := l.Header.Apart || !analysis.MayReload(l.Blocks) // else the loads of several iterations cannot be in flight at once
	for _, b := range l.Blocks {
		if slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpCheck }) {
			return false
		}
		has = has || independent && slices.ContainsFunc(b.Values, calls) || slices.ContainsFunc(b.Phis(), func(phi *ir.Value) bool { return phi.Type.IsPtr() })
		has = has || len(l.Blocks) > 1 && l.Header.Apart && slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpStore && analysis.SliceOf(v) != nil })
	}
	return has && l.Exits()[0].From == u.latch
}

// counter recognises the loop's induction variable.
func (u *callUnroller) counter() bool {
	c, ok := u.loop.Counter()
	if !ok || c.Less.Op != ir.OpSLt || c.Next.Type.Bits() < 32 || c.Next.Args[0] != c.Phi {
		return false
	}
	step, ok := analysis.IntConst(c.Step)
	u.iv, u.bound, u.step = c.Phi, c.Bound, step
	return ok && step > 0 && step <= maxCallStep
}

// apply copies the loop four times before the loop and makes the copies a loop.
func (u *callUnroller) apply() {
	l, entry := u.loop, u.loop.Preheader()
	start, next := l.PhiArgs(u.iv)
	exit := u.latch.Succs[1]
	edit.DemoteLiveOuts(l)
	c := edit.NewCloner(l.Header.Func, l.Header.Func)
	for i := range u.copies {
		c.CopyLoop(l)
		u.copies[i].header, u.copies[i].latch = c.Block(l.Header), c.Block(u.latch)
	}
	u.last = c.Of(next)
	for _, x := range u.copies[:partialFactor-1] {
		edit.SetTerm(x.latch, ir.OpJump)
		edit.RemovePred(exit, x.latch)
		x.latch.Succs = x.latch.Succs[:1]
	}
	var limit *ir.Value
	many := atEnd(entry, func(e *editor) *ir.Value {
		limit = u.limit(e)
		return e.make(ir.OpSLt, ir.I1, start, limit)
	})
	u.enter(entry, many)
	u.repeat(limit)
}

// limit computes what the counter must be below for the next three to be below the bound.
func (u *callUnroller) limit(e *editor) *ir.Value {
	t := u.iv.Type
	lowest := int64(math.MinInt64)
	if t.Bits() == 32 {
		lowest = math.MinInt32
	}
	three := (partialFactor - 1) * u.step
	least := e.constant(t, lowest+three)
	bound := e.make(ir.OpSelect, t, e.make(ir.OpSLt, ir.I1, u.bound, least), least, u.bound)
	return e.make(ir.OpSub, t, bound, e.constant(t, three))
}

// enter lets the block before the loop choose between the copies, where it leads now, and the loop.
func (u *callUnroller) enter(entry *ir.Block, many *ir.Value) {
	first, header := u.copies[0].header, u.loop.Header
	k := first.PredIndex(entry)
	edit.SetTerm(entry, ir.OpIf, many)
	entry.AddEdge(header)
	for i, phi := range header.Phis() {
		phi.Args = append(phi.Args, first.Phis()[i].Args[k])
	}
}

// repeat leads from the last copy to the first one, and from there to a block that continues as the last copy did.
func (u *callUnroller) repeat(limit *ir.Value) {
	first, header, latch := u.copies[0].header, u.loop.Header, u.copies[partialFactor-1].latch
	rest := latch.Split(len(latch.Values) - 1)
	k := header.PredIndex(rest)
	again := latch.Append(ir.OpSLt, ir.I1, u.last, limit)
	latch.Append(ir.OpIf, ir.Void, again).Pos = rest.Term().Pos
	latch.AddEdge(first)
	latch.AddEdge(rest)
	for i, phi := range header.Phis() {
		first.Phis()[i].Args = append(first.Phis()[i].Args, phi.Args[k])
	}
}
