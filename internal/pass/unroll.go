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
		if n == 0 || !worth(l, n, kept) || overlaps(taken, l) {
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
