package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// Limits of full unrolling: iterations, and values in all of them together. The largest is for
// loops over local arrays: a 4x4 block of products over 8 steps has about a thousand values.
const (
	maxTrips    = 128
	maxUnrolled = 4000
	maxSmall    = 500
	maxDense    = 1500
	minDense    = 32 // products in an iteration
	fewTrips    = 8
	manyTrips   = 16 // with Unroll
	maxShort    = 256
)

// unroll fully unrolls loops with a small constant trip count that index a local array, so that the
// indices become constants and the array becomes registers (an array in local memory is up to 266
// times slower), and small loops with few iterations, such as those of stencils, whose conditions
// become constants. ptxas unrolls all other such loops; for back ends without such a compiler after
// them, Options.Unroll unrolls more.
//
//	b1: %i = phi 0, %j                b1: %p0 = offset %a {0}
//	    %p = index %a, %i {4}             store %p0, %x
//	    store %p, %x              ->      jump b3
//	    %j = add %i, 1                b3: %p1 = offset %a {4}
//	    %c = slt %j, 2                    store %p1, %x
//	    if %c b1 b2                       jump b2
func unroll(f *ir.Func, o *Options) (changed bool) {
	return unrollLoops(f, o, func(l *analysis.Loop, n int, kept *unpromotable) bool {
		short := n <= manyTrips+1 && n*size(l) <= maxShort
		return worthUnrolling(l, n, kept) || short && (o.Unroll && sums(l) || checksCounter(l))
	})
}

// unrollDense fully unrolls loops with few iterations and many products of values in shared memory,
// so that the loads of one iteration are scheduled with the products of another: ptxas does not
// unroll loops of that size. It runs once local arrays have become registers.
func unrollDense(f *ir.Func, o *Options) (changed bool) {
	return unrollLoops(f, o, func(l *analysis.Loop, n int, _ *unpromotable) bool {
		return n <= fewTrips+1 && n*size(l) <= maxDense && dense(l)
	})
}

// unrollLoops fully unrolls the innermost loops with a known trip count for which worth returns true.
func unrollLoops(f *ir.Func, o *Options, worth func(l *analysis.Loop, rounds int, kept *unpromotable) bool) (changed bool) {
	c := edit.NewCloner(f, f)
	var taken []*analysis.Loop
	loops := analysis.Loops(ir.Dominators(f))
	kept := findUnpromotable(f, o, loops)
	for _, l := range loops {
		n := tripCount(l)
		if n == 0 || rolled(loops, l) || !worth(l, n, kept) || overlaps(taken, l) {
			continue
		}
		taken = append(taken, l)
		note(l, ir.Unrolled, n)
		edit.DemoteLiveOuts(l)
		c.Begin(f)
		for range n {
			c.CopyLoop(l)
		}
	}
	return len(taken) > 0
}

// worthUnrolling reports whether n copies of the loop are worth their size.
func worthUnrolling(l *analysis.Loop, n int, kept *unpromotable) bool {
	total := n * size(l)
	return total <= maxSmall && n <= fewTrips+1 || total <= maxUnrolled && (indexesLocal(l, kept) || startsProducts(l))
}

// startsProducts reports whether the loop starts products of panels: those of one group should
// follow each other, with constants to add to the addresses.
func startsProducts(l *analysis.Loop) bool {
	return slices.ContainsFunc(l.Blocks, hasProduct)
}

// dense reports whether most of the loop is float products and loads from shared memory for them.
func dense(l *analysis.Loop) bool {
	products, others := 0, 0
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			switch {
			case v.Op == ir.OpFma || v.Op == ir.OpFMul:
				products++
			case v.Op == ir.OpConst || v.Op == ir.OpPhi || v.Op == ir.OpExtract || v.Op.Terminator():
			case v.Op == ir.OpLoad && v.Args[0].Type.Space == ir.Shared:
			case !v.Op.Pure():
				return false
			default:
				others++
			}
		}
	}
	return products >= minDense && others < products
}

// sums reports whether the loop, whose only branch is its end, reads memory and otherwise only computes.
func sums(l *analysis.Loop) bool {
	loads, branches := 0, 0
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			switch {
			case v.Op == ir.OpLoad:
				loads++
			case v.Op == ir.OpIf:
				branches++
			case !v.Op.Pure() && v.Op != ir.OpPhi && v.Op != ir.OpJump:
				return false
			}
		}
	}
	return loads > 0 && branches == 1
}

// checksCounter reports whether the loop checks an index that is a constant in each iteration against a bound that is none. One check
// of the largest index does for all of them, once they are side by side; a loop that a check may leave is not unrolled by ptxas.
func checksCounter(l *analysis.Loop) bool {
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.OpCheck || v.Args[0].Op != ir.OpULt || isConst(v.Args[0].Args[1]) {
				continue
			}
			index, bound := v.Args[0].Args[0], v.Args[0].Args[1]
			if bound.Block != nil && l.Contains(bound.Block) {
				continue
			}
			for _, phi := range l.Header.Phis() {
				if start, _ := l.PhiArgs(phi); start != nil && isConst(start) {
					if _, ok := analysis.Evaluate(index, phi, start.Imm, 4); ok && !isConst(index) {
						return true
					}
				}
			}
		}
	}
	return false
}

// overlaps reports whether l shares blocks with a loop that has been copied already, so that what
// is known of l no longer holds.
func overlaps(taken []*analysis.Loop, l *analysis.Loop) bool {
	return slices.ContainsFunc(taken, func(t *analysis.Loop) bool { return l.Contains(t.Header) })
}

// size counts the values of the loop that become instructions.
func size(l *analysis.Loop) int {
	n := 0
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.OpConst && v.Op != ir.OpPhi && v.Op != ir.OpExtract {
				n++
			}
		}
	}
	return n
}

// indexesLocal reports whether the loop indexes a local array by a value that is not constant, and
// the array may be promoted to registers for more than copies to or from one that cannot be.
func indexesLocal(l *analysis.Loop, kept *unpromotable) bool {
	free, stays := false, false
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.OpIndex || v.Args[1].Block == nil || !l.Contains(v.Args[1].Block) {
				continue
			}
			if x := analysis.Object(v); x != nil && x.Op == ir.OpAlloca {
				free, stays = free || !kept.has(x), stays || kept.has(x)
			}
		}
	}
	return free && !(stays && copies(l))
}

// copies reports whether the loop stores only what it loads.
func copies(l *analysis.Loop) bool {
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpStore && v.Args[1].Op != ir.OpLoad {
				return false
			}
		}
	}
	return true
}

// tripCount returns the trip count of a loop that may be unrolled, 0 if it is unknown or above maxTrips.
func tripCount(l *analysis.Loop) int { return l.TripCount(maxTrips) }

// unpromotable holds the local arrays that stay in memory whatever is unrolled, because they are
// indexed by values that unrolling does not make constant: to copy loops over such an array costs
// code and saves no access. It is empty without Options.Unroll, as what ptxas makes of short loops
// over local memory has not been measured.
type unpromotable struct {
	arrays  []*ir.Value
	counted map[*ir.Block]bool // headers of loops with a known number of iterations
	known   map[*ir.Value]bool // of what indices are made of: it is a constant when loops are unrolled
}

// findUnpromotable returns those of f.
func findUnpromotable(f *ir.Func, o *Options, loops []*analysis.Loop) *unpromotable {
	u := &unpromotable{counted: map[*ir.Block]bool{}, known: map[*ir.Value]bool{}}
	if !o.Unroll {
		return u
	}
	for _, l := range loops {
		if tripCount(l) > 0 {
			u.counted[l.Header] = true
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.OpIndex || u.isKnown(v.Args[1]) {
				continue
			}
			if x := analysis.Object(v); x != nil && !u.has(x) {
				u.arrays = append(u.arrays, x)
			}
		}
	}
	return u
}

// has reports whether the local array stays in memory.
func (k *unpromotable) has(local *ir.Value) bool { return slices.Contains(k.arrays, local) }

// isKnown reports whether v becomes a constant when loops are unrolled.
func (k *unpromotable) isKnown(v *ir.Value) bool {
	if isConst(v) {
		return true
	}
	if known, ok := k.known[v]; ok {
		return known
	}
	k.known[v] = true // while it is asked for: a loop's counter depends on itself. What has counted on that is not asked again
	known := k.counted[v.Block]
	if v.Op != ir.OpPhi {
		known = v.Op.Pure() && len(v.Args) > 0
	}
	for _, a := range v.Args {
		known = known && k.isKnown(a)
	}
	k.known[v] = known
	return known
}

const (
	partialFactor   = 4    // iterations that become one
	maxPartial      = 64   // values of a loop that is copied
	maxPartialTrips = 4096 // of a loop whose trip count is computed
)

// unrollPartial unrolls loops of one block by four whose trip count is a known multiple of four and
// that contain divisions or square roots: ptxas makes calls of those, and does not unroll a loop
// with calls.
func unrollPartial(f *ir.Func, _ *Options) (changed bool) {
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		if len(l.Blocks) != 1 || slices.ContainsFunc(l.Header.Values, isUnroll) || size(l) > maxPartial || !slices.ContainsFunc(l.Header.Values, calls) {
			continue
		}
		if n := l.TripCount(maxPartialTrips); n > partialFactor && n%partialFactor == 0 {
			note(l, ir.Joined, partialFactor)
			unrollLoopPartially(l)
			changed = true
		}
	}
	return changed
}

// calls reports whether ptxas expands v to a call.
func calls(v *ir.Value) bool {
	switch v.Op {
	case ir.OpFDiv, ir.OpFSqrt:
		return true
	case ir.OpSDiv, ir.OpUDiv, ir.OpSRem, ir.OpURem:
		return v.Type.Bits() == 64
	}
	return false
}

// unrollLoopPartially unrolls a loop of one block by partialFactor.
func unrollLoopPartially(l *analysis.Loop) {
	edit.DemoteLiveOuts(l)
	b := l.Header
	phis, n := b.Phis(), len(b.Values)-1
	values := slices.Clone(b.Values[len(phis):n])
	k := b.PredIndex(b)
	now := map[*ir.Value]*ir.Value{}
	of := func(m map[*ir.Value]*ir.Value, v *ir.Value) *ir.Value {
		if x, ok := m[v]; ok {
			return x
		}
		return v
	}
	e := &editor{b: b, out: b.Values[:n:n]}
	for range partialFactor - 1 {
		next := map[*ir.Value]*ir.Value{}
		for _, phi := range phis {
			next[phi] = of(now, phi.Args[k])
		}
		for _, v := range values {
			e.pos = v.Pos
			args := make([]*ir.Value, len(v.Args))
			for i, a := range v.Args {
				args[i] = of(next, a)
			}
			x := e.makeImm(v.Op, v.Type, v.Imm, args...)
			x.Aux, next[v] = v.Aux, x
		}
		now = next
	}
	term := b.Values[n]
	term.Args[0] = of(now, term.Args[0])
	var last []*ir.Value
	for _, phi := range phis {
		last = append(last, of(now, phi.Args[k]))
	}
	for i, phi := range phis {
		phi.Args[k] = last[i]
	}
	for _, s := range b.Succs {
		if s == b {
			continue
		}
		for _, phi := range s.Phis() {
			at := s.PredIndex(b)
			phi.Args[at] = of(now, phi.Args[at])
		}
	}
	b.Values = append(e.out, term)
}

const (
	maxGuarded       = 512 // values of all iterations
	maxGuardedTrips  = 33
	maxGuardedBlocks = 4 // of the loop: a condition, or two
)

// unrollGuarded fully unrolls small loops that load a[x+i] under a condition in iteration i:
//
//	b1: i = phi 0, j        b1: if c0 b2 b3
//	    if ci b2 b3         b2: load a[x]
//	b2: load a[x+i]    ->   b3: if c1 b4 b5
//	b3: j = i+1             b4: load a[x+1]
//	    if j < 8 b1 b4      b5: ...
//
// ptxas unrolls them, too, but then computes each address again after its condition. The pass runs once
// the checks at which the loop would fault have left it.
func unrollGuarded(f *ir.Func, o *Options) (changed bool) {
	return unrollLoops(f, o, func(l *analysis.Loop, n int, _ *unpromotable) bool {
		return n <= maxGuardedTrips && n*size(l) <= maxGuarded && len(l.Blocks) <= maxGuardedBlocks && !l.Header.Cold && guards(l)
	})
}

// guards reports whether the loop has no checks and no stores, and all its loads are under a condition and of elements that
// are one after the other.
func guards(l *analysis.Loop) bool {
	loads := 0
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			switch {
			case v.Op == ir.OpLoad:
				if v.Args[0].Type.Space != ir.Global || l.InEveryIteration(b) || !steps(l, v.Args[0]) {
					return false
				}
				loads++
			case !v.Op.Pure() && v.Op != ir.OpPhi && v.Op != ir.OpIf && v.Op != ir.OpJump:
				return false
			}
		}
	}
	return loads > 0
}

// steps reports whether the address is that of an element whose index is a counter of the loop plus an invariant.
func steps(l *analysis.Loop, address *ir.Value) bool {
	if address.Op != ir.OpIndex || address.Args[1].Op != ir.OpAdd {
		return false
	}
	inside := func(v *ir.Value) bool { return v.Block != nil && l.Contains(v.Block) }
	args := address.Args[1].Args
	i := slices.IndexFunc(args, inside)
	return !inside(address.Args[0]) && i >= 0 && args[i].Op == ir.OpPhi && args[i].Block == l.Header && !inside(args[1-i])
}
