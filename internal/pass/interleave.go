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
// load from memory and store at most to shared memory from which they do not load, so that the loads of all four are in flight at once. First
// come the checks that depend on no load, of all four iterations, as one; then the loads guarded by
// them; then the checks on what has been loaded, and so on; the sums and stores come last, in the order of the
// iterations. If a check fails, nothing has happened yet: the original loop, which also does the
// last iterations, continues from the first of the four and finds out which one.
//
//	                                  b9: if three more iterations follow b5 b1
//	b1: %i = phi 0, %j                b5: check that the four %i are in range, or go to b1
//	    %s = phi 0, %t            ->      %x0, %x1, %x2, %x3 = loads
//	    check %i < %n                     %t = fadd of %x0, %x1, %x2, %x3, in this order
//	    %x = load %a + 4*%i               if three more follow b5 b1
//	    %t = fadd %s, %x              b1: the loop as before, for the rest and for faults
//	    %j = add %i, 1
//	    if %j < %m b1 b2
func interleave(f *ir.Func, _ *Options) (changed bool) {
	edit.AddPreheaders(f)
	dom := ir.Dominators(f)
	ranges := analysis.NewRanges(dom)
	nest := analysis.Loops(dom)
	for _, l := range nest {
		b := &interleaver{loop: l, body: l.Header, ranges: ranges, stage: map[*ir.Value]int{}}
		if isInnermost(nest, l) && !rolled(nest, l) && tripCount(l) == 0 && b.fits() && b.counter() && b.stages() {
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
		case ir.OpStore:
			if !b.storesApart(v) {
				return false
			}
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

// storesApart reports whether v stores to shared memory that the loop does not load.
func (b *interleaver) storesApart(v *ir.Value) bool {
	return v.Args[0].Type.Space == ir.Shared && !slices.ContainsFunc(b.body.Values, func(x *ir.Value) bool {
		return x.Op == ir.OpLoad && analysis.MayAlias(v.Args[0], x.Args[0])
	})
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
