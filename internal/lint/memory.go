package lint

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// sector is the size in bytes of the smallest transfer of global memory.
const sector = 32

// fine is the highest number of accesses per bank that is not reported: two are often the minimum.
const fine = 2

// few is the number of threads of a warp whose accesses are not reported, because they cost little.
const few = 4

func count(set []bool) int {
	n := 0
	for _, in := range set {
		if in {
			n++
		}
	}
	return n
}

// global reports accesses for which adjacent threads have indices far apart. It does not report
// accesses to large elements, for which the index is not the cause.
func (k *kernel) global() {
	row := newRowEvaluator(k.f, k.dom)
	if row.size[0] < 2 {
		return
	}
	k.each(func(v *ir.Value, at analysis.Point) {
		if v.Op != ir.OpLoad && v.Op != ir.OpStore || v.Args[0].Type.Space != ir.Global || !k.many(row, v.Block) {
			return
		}
		for a := v.Args[0]; a.Op == ir.OpIndex || a.Op == ir.OpOffset; a = a.Args[0] {
			if a.Op == ir.OpIndex && k.apart(v, a, row.of(a.Args[1]), at) {
				return
			}
		}
	})
}

// apart reports v if index, a part of its address, is far apart in adjacent threads.
func (k *kernel) apart(v, index *ir.Value, n number, at analysis.Point) bool {
	f := Finding{Pos: v.Pos, Category: Coalesce}
	switch {
	case n.strided != nil:
		if r := k.ranges.At(n.strided, at); r.Lo >= 0 && r.Hi <= sector/index.Imm {
			return false
		}
		f.Message = "adjacent threads along x access elements that are a variable distance apart"
	case n.known:
		d := abs(n.threads[1] - n.threads[0])
		if d < 2 || d*index.Imm < sector {
			return false
		}
		f.Message = fmt.Sprintf("adjacent threads along x access elements that are %d apart", d)
	default:
		return false
	}
	k.report(f)
	return true
}

// many reports whether more than a few threads of a warp provably execute b.
func (k *kernel) many(e *evaluator, b *ir.Block) bool {
	in := slices.Repeat([]bool{true}, e.count())
	for _, c := range k.guards(b, e.uniform) {
		n := e.of(c.cond)
		switch {
		case n.plain():
			for i := range in {
				in[i] = in[i] && (n.threads[i] != 0) == c.holds
			}
		case c.cond.Op == ir.OpEq && c.holds || c.cond.Op == ir.OpNe && !c.holds || !ordered(c.cond.Op):
			return false
		}
	}
	return count(in[:min(len(in), 32)]) > few
}

func ordered(op ir.Op) bool { return op >= ir.OpEq && op <= ir.OpULe }

func abs(n int64) int64 { return max(n, -n) }

// banks reports bank conflicts in accesses to shared memory, provided that a full warp provably
// executes them.
func (k *kernel) banks() {
	e := k.eval
	if !e.sure || e.count() < 32 {
		return
	}
	k.each(func(v *ir.Value, _ analysis.Point) {
		if v.Op != ir.OpLoad && v.Op != ir.OpStore || shared(v.Args[0]) == nil || !k.whole(v.Block) {
			return
		}
		n := e.of(v.Args[0])
		if !n.known {
			return
		}
		if ways := conflict(n.threads[:32], accessed(v).Size()); ways > fine {
			k.report(Finding{Pos: v.Pos, Category: Bank, Message: fmt.Sprintf("this access to shared memory has a %d-way bank conflict", ways)})
		}
	})
}

// whole reports whether all threads of the first warp execute b, except for conditions that are
// equal in all threads.
func (k *kernel) whole(b *ir.Block) bool {
	for _, c := range k.guards(b, k.uniform) {
		n := k.eval.of(c.cond)
		if !n.plain() && (c.cond.Op < ir.OpSLt || c.cond.Op > ir.OpULe) {
			return false
		}
		for i := range 32 {
			if n.plain() && (n.threads[i] != 0) != c.holds {
				return false
			}
		}
	}
	return true
}

// conflict returns the largest number of different 4-byte locations in one bank among those that
// threads access at once. These are the threads of a warp or, for larger elements, as many of them
// as access 128 bytes.
func conflict(at []int64, size int64) int {
	group := len(at)
	if size > 4 {
		group = int(4 * int64(len(at)) / size)
	}
	ways := 0
	for ; len(at) >= group && group > 0; at = at[group:] {
		words := map[int64]bool{}
		var banks [32]int
		for _, a := range at[:group] {
			for w := a >> 2; w <= (a+size-1)>>2; w++ {
				if !words[w] {
					words[w] = true
					banks[w&31]++
					ways = max(ways, banks[w&31])
				}
			}
		}
	}
	return ways
}

// locals reports arrays that are in local memory after all passes.
func (k *kernel) locals() {
	kept := k.kept()
	k.each(func(v *ir.Value, _ analysis.Point) {
		switch use, ok := kept[v]; {
		case ok && v.Aux.(*ir.Type).Kind == ir.KindArray:
			k.local(v, Finding{Other: use, Says: "the use", Message: "the uses of its address are not known at compile time"})
		case v.Op == ir.OpIndex:
			base := analysis.Object(v.Args[0])
			if _, ok := kept[base]; !ok && base != nil && base.Op == ir.OpAlloca {
				k.local(base, Finding{Other: v.Pos, Says: "the index", Message: "an index is not known at compile time"})
			}
		}
	})
}

// local reports an array that is in local memory; the message of f is the reason.
func (k *kernel) local(array *ir.Value, f Finding) {
	f.Pos, f.Category = array.Pos, Local
	f.Message = fmt.Sprintf("this array of %d bytes is in local memory, not in registers, because %s", array.Aux.(*ir.Type).Size(), f.Message)
	k.report(f)
}

// kept returns, for each local whose address is used for more than to load and store, where.
func (k *kernel) kept() map[*ir.Value]ir.Pos {
	found := map[*ir.Value]ir.Pos{}
	k.each(func(v *ir.Value, _ analysis.Point) {
		for i, a := range v.Args {
			base := analysis.Object(a)
			_, again := found[base]
			if base == nil || base.Op != ir.OpAlloca || again || v.Op == ir.OpLoad || v.Op == ir.OpOffset || v.Op == ir.OpIndex || v.Op == ir.OpStore && i == 0 {
				continue
			}
			found[base] = v.Pos
		}
	})
	return found
}

// overflows reports 32-bit products of the thread's index in the grid that are used as an index.
func (k *kernel) overflows() {
	k.each(func(v *ir.Value, at analysis.Point) {
		if v.Op == ir.OpIndex {
			k.product(v.Args[1], at, map[*ir.Value]bool{})
		}
	})
}

// product searches for such a product in the sum v and visits each value once.
func (k *kernel) product(v *ir.Value, at analysis.Point, seen map[*ir.Value]bool) {
	if seen[v] {
		return
	}
	seen[v] = true
	switch v.Op {
	case ir.OpSExt, ir.OpZExt:
		if v.Args[0].Type.Bits() == 32 {
			k.product(v.Args[0], at, seen)
		}
	case ir.OpAdd, ir.OpSub:
		k.product(v.Args[0], at, seen)
		k.product(v.Args[1], at, seen)
	case ir.OpMul:
		x, y := k.ranges.At(v.Args[0], at), k.ranges.At(v.Args[1], at)
		if v.Type.Bits() != 32 || !ofGrid(v, map[*ir.Value]bool{}) || fits(x, y) {
			return
		}
		k.report(Finding{Pos: v.Pos, Category: Overflow, Message: "this index is a 32-bit product, which may overflow in large grids"})
	}
}

// fits reports whether all products of numbers in x and y fit in 32 bits.
func fits(x, y analysis.Range) bool {
	const limit = 1 << 31
	most := float64(max(abs(x.Lo), abs(x.Hi))) * float64(max(abs(y.Lo), abs(y.Hi)))
	return most < limit
}

// ofGrid reports whether v is computed from the index of the block by sums, products and
// conversions of values that have not been seen before.
func ofGrid(v *ir.Value, seen map[*ir.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	switch v.Op {
	case ir.OpCtaid:
		return true
	case ir.OpTrunc, ir.OpSExt, ir.OpZExt:
		return ofGrid(v.Args[0], seen)
	case ir.OpAdd, ir.OpSub, ir.OpMul:
		return ofGrid(v.Args[0], seen) || ofGrid(v.Args[1], seen)
	}
	return false
}
