package pass

import (
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

const (
	maxCallStep = 1 << 16 // of a counter, so that a few steps cannot overflow
	maxEven     = 256     // values of the copies of a loop without tests between them
	minSaved    = 4       // the part of a loop that may end early that each copy must save
)

// unrollCalls unrolls small innermost loops that ptxas does not unroll: those that may end early, if that pays, and those that contain
// divisions or square roots, of which ptxas makes calls. If 8 or 4 divides a constant trip count, 8 or 4 iterations follow each other
// without tests of the counter. If the trip count is unknown, four iterations follow each other while the counter is below the bound less
// three steps, and the loop itself runs the remaining iterations.
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
		u := &loopUnroller{loop: l, factor: partialFactor}
		if !isInnermost(nest, l) || rolled(nest, l) || !u.fits() {
			continue
		}
		needed := u.leaves() && u.pays() || u.calls()
		n := u.even()
		switch {
		case needed && n > 0:
			note(l, ir.Joined, n)
			chain(l, n, true)
		case (needed || tripCount(l) == 0 && u.keepsPointers()) && u.counter():
			note(l, ir.Joined, partialFactor)
			u.apply()
		default:
			continue
		}
		changed = true
	}
	return changed
}

// A loopUnroller handles one loop, which runs while iv plus step is below bound.
type loopUnroller struct {
	loop      *analysis.Loop
	factor    int // iterations that follow each other
	latch     *ir.Block
	iv, bound *ir.Value
	step      int64
	copies    []loopCopy
	last      *ir.Value // what the counter is after the copies
}

type loopCopy struct{ header, latch *ir.Block }

// fits reports whether the loop is small, without checks, and ends at its latch, if not before.
func (u *loopUnroller) fits() bool {
	l := u.loop
	if len(l.Latches) != 1 || l.Header.Cold || size(l) > maxPartial || hasConvergent(l) {
		return false
	}
	for _, b := range l.Blocks {
		if slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpCheck }) {
			return false
		}
	}
	u.latch = l.Latches[0]
	return u.latch.Term().Op == ir.OpIf && u.latch.Succs[0] == l.Header
}

// leaves reports whether the loop may end before its latch, which is why ptxas does not unroll it.
func (u *loopUnroller) leaves() bool { return len(u.loop.Exits()) > 1 }

// pays reports whether an iteration of a copy needs at least a quarter fewer instructions. It has no test of the counter, and an addition of
// a constant to a counter, or the address of an element, becomes the constant offset of a memory operand. In return, each exit of
// a copy needs an instruction that takes the thread out of a convergence barrier.
func (u *loopUnroller) pays() bool {
	l := u.loop
	users := uses(l.Header.Func)
	saved := 2 - len(l.Exits()) + 1
	for _, phi := range l.Header.Phis() {
		if c, ok := l.Induction(phi); ok && isConst(c.Step) {
			if n := u.addresses(phi, c.Next, users); n > 0 {
				saved += n + 1
			}
		}
	}
	return minSaved*saved >= size(l)
}

// addresses returns how many sums and addresses of elements are computed from a counter, apart from its next value.
func (u *loopUnroller) addresses(v, next *ir.Value, users *userLists) (n int) {
	for _, x := range users.of(v) {
		switch {
		case x == next || x.Block == nil || !u.loop.Contains(x.Block):
		case x.Op == ir.OpIndex:
			n++
		case x.Op == ir.OpAdd && (u.loop.Invariant(x.Args[0]) || u.loop.Invariant(x.Args[1])):
			if m := u.addresses(x, next, users); m > 0 {
				n += m + 1
			}
		}
	}
	return n
}

// even returns 8 or 4 if the loop may be unrolled by that number, which divides its constant trip count, or else 0.
func (u *loopUnroller) even() int {
	trips := u.loop.ExitCount(analysis.Exit{From: u.latch, To: u.latch.Succs[1]}, maxPartialTrips)
	for _, n := range []int{2 * partialFactor, partialFactor} {
		if trips > n && trips%n == 0 && n*size(u.loop) <= maxEven {
			return n
		}
	}
	return 0
}

// calls reports whether the loop contains calls, and its stores do not keep the loads of several iterations from being in flight at once.
func (u *loopUnroller) calls() bool {
	return (u.loop.Header.Apart || !analysis.MayReload(u.loop.Blocks)) && slices.ContainsFunc(u.loop.Blocks, func(b *ir.Block) bool {
		return slices.ContainsFunc(b.Values, calls)
	})
}

// keepsPointers reports whether the loop keeps addresses in registers, or has stores under conditions that do not disturb its loads.
func (u *loopUnroller) keepsPointers() bool {
	apart := len(u.loop.Blocks) > 1 && u.loop.Header.Apart
	return slices.ContainsFunc(u.loop.Blocks, func(b *ir.Block) bool {
		return slices.ContainsFunc(b.Phis(), func(phi *ir.Value) bool { return phi.Type.IsPtr() }) ||
			apart && slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpStore && analysis.SliceOf(v) != nil })
	})
}

// counter recognises the loop's induction variable.
func (u *loopUnroller) counter() bool {
	c, ok := u.loop.Counter()
	if !ok || u.loop.Preheader() == nil || c.Less.Op != ir.OpSLt || c.Next.Type.Bits() < 32 || c.Next.Args[0] != c.Phi {
		return false
	}
	step, ok := analysis.IntConst(c.Step)
	u.latch, u.iv, u.bound, u.step = u.loop.Latches[0], c.Phi, c.Bound, step
	return ok && step > 0 && step <= maxCallStep
}

// apply copies the loop before the loop and makes the copies a loop.
func (u *loopUnroller) apply() {
	l, entry := u.loop, u.loop.Preheader()
	start, next := l.PhiArgs(u.iv)
	exit := u.latch.Succs[1]
	edit.DemoteLiveOuts(l)
	c := edit.NewCloner(l.Header.Func, l.Header.Func)
	for range u.factor {
		c.CopyLoop(l)
		u.copies = append(u.copies, loopCopy{c.Block(l.Header), c.Block(u.latch)})
	}
	u.last = c.Of(next)
	for _, x := range u.copies[:u.factor-1] {
		neverLeave(x.latch, exit)
	}
	var limit *ir.Value
	many := atEnd(entry, func(e *editor) *ir.Value {
		limit = u.limit(e)
		return e.make(ir.OpSLt, ir.I1, start, limit)
	})
	u.enter(entry, many)
	u.repeat(limit)
}

// neverLeave lets a latch continue in any case. Its first successor is a header.
func neverLeave(latch, exit *ir.Block) {
	edit.SetTerm(latch, ir.OpJump)
	edit.RemovePred(exit, latch)
	latch.Succs = latch.Succs[:1]
}

// limit computes what the counter must be below for those of the following copies to be below the bound.
func (u *loopUnroller) limit(e *editor) *ir.Value {
	t := u.iv.Type
	lowest := int64(math.MinInt64)
	if t.Bits() == 32 {
		lowest = math.MinInt32
	}
	way := int64(u.factor-1) * u.step
	least := e.constant(t, lowest+way)
	bound := e.make(ir.OpSelect, t, e.make(ir.OpSLt, ir.I1, u.bound, least), least, u.bound)
	return e.make(ir.OpSub, t, bound, e.constant(t, way))
}

// enter lets the block before the loop choose between the copies, where it leads now, and the loop.
func (u *loopUnroller) enter(entry *ir.Block, many *ir.Value) {
	first, header := u.copies[0].header, u.loop.Header
	k := first.PredIndex(entry)
	edit.SetTerm(entry, ir.OpIf, many)
	entry.AddEdge(header)
	for i, phi := range header.Phis() {
		phi.Args = append(phi.Args, first.Phis()[i].Args[k])
	}
}

// repeat leads from the last copy to the first one, and from there to a block that continues as the last copy did.
func (u *loopUnroller) repeat(limit *ir.Value) {
	first, header, latch := u.copies[0].header, u.loop.Header, u.copies[u.factor-1].latch
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

// unrollDirected unrolls loops by the numbers of //gpu:unroll directives, which are in operations in their bodies: completely if a
// loop has no more iterations; without tests between the copies if the trip count is a multiple of the number, or the loop
// counts up to a bound, in which case a loop for the rest follows; or else with the tests. What remains of such a loop, and a
// loop with the number one, keeps an operation with the number one, so that no other pass and no assembler unrolls it.
//
//	b1: %i = phi 0, %j            b1: %i = phi 0, %j2
//	    unroll {2}                    unroll {1}
//	    store %a+%i, %x               store %a+%i, %x
//	    %j = add %i, 1      ->        %j = add %i, 1
//	    %c = slt %j, 20               store %a+%j, %x
//	    if %c b1 b2                   %j2 = add %j, 1
//	                                  %c = slt %j2, 20
//	                                  if %c b1 b2
func unrollDirected(f *ir.Func, _ *Options) (changed bool) {
	if !slices.ContainsFunc(f.Blocks, func(b *ir.Block) bool { return slices.ContainsFunc(b.Values, isUnroll) }) {
		return false
	}
	edit.AddPreheaders(f)
	removePhis(f) // of one argument, which hide what counters start from
	nest := analysis.Loops(ir.Dominators(f))
	dropOutside(f, nest)
	var taken []*analysis.Loop
	for _, l := range nest {
		n := directed(nest, l)
		if n <= 1 || overlaps(taken, l) {
			continue
		}
		taken = append(taken, l)
		for _, b := range l.Blocks {
			if innermost(nest, b) == l {
				b.Values = slices.DeleteFunc(b.Values, isUnroll)
			}
		}
		unrollBy(l, n)
	}
	return len(taken) > 0
}

// dropUnroll drops what is left of directives for back ends without a compiler after them.
func dropUnroll(f *ir.Func, o *Options) {
	if !o.Unroll {
		return
	}
	for _, b := range f.Blocks {
		b.Values = slices.DeleteFunc(b.Values, isUnroll)
	}
}
