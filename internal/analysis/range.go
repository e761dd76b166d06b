package analysis

import (
	"math"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Range is the set of signed numbers from Lo to Hi. It is empty if Lo > Hi. An i1 is 0 or 1.
type Range struct{ Lo, Hi int64 }

var (
	none = Range{1, 0}
	all  = Range{math.MinInt64, math.MaxInt64}
)

// FullRange returns the range of all values of the integer type t.
func FullRange(t *ir.Type) Range {
	if !t.IsInt() {
		return all
	}
	if t.Kind == ir.KindI1 {
		return Range{0, 1}
	}
	n := t.Bits() - 1
	return Range{-1 << n, 1<<n - 1}
}

// Empty reports whether r is empty.
func (r Range) Empty() bool { return r.Lo > r.Hi }

// NonNegative reports whether r is not empty and contains no negative number.
func (r Range) NonNegative() bool { return !r.Empty() && r.Lo >= 0 }

// Within reports whether r is a subset of s.
func (r Range) Within(s Range) bool { return r.Empty() || r.Lo >= s.Lo && r.Hi <= s.Hi }

func (r Range) union(s Range) Range {
	switch {
	case r.Empty():
		return s
	case s.Empty():
		return r
	}
	return Range{min(r.Lo, s.Lo), max(r.Hi, s.Hi)}
}

func (r Range) intersect(s Range) Range { return Range{max(r.Lo, s.Lo), min(r.Hi, s.Hi)} }

// add returns the sums of r and s; ok is false if one may not fit 64 bits.
func (r Range) add(s Range) (sum Range, ok bool) {
	lo, ok1 := addExact(r.Lo, s.Lo)
	hi, ok2 := addExact(r.Hi, s.Hi)
	return Range{lo, hi}, ok1 && ok2
}

func (r Range) sub(s Range) (Range, bool) {
	if s.Lo == math.MinInt64 {
		return all, false
	}
	return r.add(Range{-s.Hi, -s.Lo})
}

func (r Range) mul(s Range) (Range, bool) {
	product := none
	for _, x := range []int64{r.Lo, r.Hi} {
		for _, y := range []int64{s.Lo, s.Hi} {
			p, ok := mulExact(x, y)
			if !ok {
				return all, false
			}
			product = product.union(Range{p, p})
		}
	}
	return product, true
}

// addExact returns x+y and whether it fits.
func addExact(x, y int64) (int64, bool) {
	s := x + y
	return s, (s > x) == (y > 0)
}

func mulExact(x, y int64) (int64, bool) {
	if x == 0 || y == 0 {
		return 0, true
	}
	p := x * y
	if p == math.MinInt64 && (x == -1 || y == -1) {
		return 0, false
	}
	return p, p/y == x
}

// atMost returns the numbers from 0 to the largest with as many bits as r.Hi has.
func (r Range) atMost() Range { return Range{0, 1<<bits.Len64(uint64(r.Hi)) - 1} }

// transfer returns the range of an operation on integers whose arguments have the given
// ranges, none of them empty.
func transfer(v *ir.Value, args []Range) Range {
	full := FullRange(v.Type)
	fit := func(r Range, ok bool) Range {
		if !ok || !r.Within(full) {
			return full
		}
		return r
	}
	switch v.Op {
	case ir.OpAdd:
		return fit(args[0].add(args[1]))
	case ir.OpSub:
		return fit(args[0].sub(args[1]))
	case ir.OpMul:
		return fit(args[0].mul(args[1]))
	case ir.OpAnd, ir.OpOr, ir.OpXor:
		return bitwise(v.Op, args[0], args[1], full)
	case ir.OpShl, ir.OpLShr, ir.OpAShr:
		return shiftRange(v, args[0], args[1], full)
	case ir.OpSDiv, ir.OpUDiv:
		return quotient(v.Op, args[0], args[1], full)
	case ir.OpSRem, ir.OpURem:
		return remainder(v.Op, args[0], args[1], full)
	case ir.OpUMulHi:
		if args[0].NonNegative() && args[1].NonNegative() {
			return Range{0, min(args[0].Hi, args[1].Hi)}
		}
	case ir.OpPopc, ir.OpClz:
		return Range{0, int64(v.Type.Bits())}.intersect(full)
	case ir.OpSExt:
		if v.Args[0].Type.Kind == ir.KindI1 {
			return Range{-args[0].Hi, -args[0].Lo}
		}
		return args[0]
	case ir.OpZExt:
		if args[0].Lo >= 0 {
			return args[0]
		}
		return Range{0, 1<<v.Args[0].Type.Bits() - 1}
	case ir.OpTrunc:
		if v.Type.Bits() > 1 {
			return fit(args[0], true)
		}
	}
	return full
}

func bitwise(op ir.Op, x, y, full Range) Range {
	if full.Lo == 0 { // of i1
		return full
	}
	switch {
	case op == ir.OpAnd && x.Lo >= 0 && y.Lo >= 0:
		return Range{0, min(x.Hi, y.Hi)}
	case op == ir.OpAnd && x.Lo >= 0:
		return Range{0, x.Hi}
	case op == ir.OpAnd && y.Lo >= 0:
		return Range{0, y.Hi}
	case x.Lo >= 0 && y.Lo >= 0:
		return Range{0, max(x.Hi, y.Hi)}.atMost()
	}
	return full
}

// shiftRange handles shifts; the count is read without sign.
func shiftRange(v *ir.Value, x, by, full Range) Range {
	n := int64(v.Type.Bits())
	constant := by.Lo == by.Hi && by.Lo >= 0 && by.Lo < n
	switch {
	case constant && v.Op == ir.OpShl && by.Lo < 63:
		r, ok := x.mul(Range{1 << by.Lo, 1 << by.Lo})
		if ok && r.Within(full) {
			return r
		}
	case constant && (v.Op == ir.OpAShr || v.Op == ir.OpLShr && x.Lo >= 0):
		return Range{x.Lo >> by.Lo, x.Hi >> by.Lo}
	case constant && v.Op == ir.OpLShr && by.Lo > 0:
		return Range{0, 1<<(n-by.Lo) - 1}
	case v.Op != ir.OpShl && x.Lo >= 0:
		return Range{0, x.Hi}
	case v.Op == ir.OpAShr:
		return Range{min(x.Lo, 0), max(x.Hi, -1)}
	}
	return full
}

func quotient(op ir.Op, x, y, full Range) Range {
	switch {
	case y.Lo > 0 && x.Lo >= 0:
		return Range{x.Lo / y.Hi, x.Hi / y.Lo}
	case y.Lo > 0 && op == ir.OpSDiv:
		return Range{min(x.Lo/y.Lo, 0), max(x.Hi/y.Lo, 0)}
	case y.Lo > 1 && op == ir.OpUDiv && full.Hi == math.MaxInt64:
		return Range{0, int64(math.MaxUint64 / uint64(y.Lo))}
	}
	return full
}

func remainder(op ir.Op, x, y, full Range) Range {
	switch {
	case y.Lo > 0 && x.Lo >= 0:
		if x.Hi < y.Lo {
			return x
		}
		return Range{0, min(x.Hi, y.Hi-1)}
	case y.Lo > 0 && op == ir.OpURem:
		return Range{0, y.Hi - 1}
	case y.Lo > 0:
		return Range{max(x.Lo, 1-y.Hi), max(0, min(x.Hi, y.Hi-1))}
	}
	return full
}

// The largest block and grid along each axis (CUDA C++ Programming Guide, Compute Capabilities).
var (
	maxBlock = [3]int64{1024, 1024, 64}
	maxGrid  = [3]int64{math.MaxInt32, 65535, 65535}
)

// maxCluster is the most blocks of a cluster on any GPU.
const maxCluster = 16

// maxShared is more than the bytes of shared memory that a block may have on any GPU.
const maxShared = 1 << 20

// source returns the range of an operation that has no integer arguments to compute it from.
func source(v *ir.Value) Range {
	switch v.Op {
	case ir.OpConst:
		return constRange(v)
	case ir.OpTid:
		return Range{0, blockRange(v).Hi - 1}
	case ir.OpNTid:
		return blockRange(v)
	case ir.OpLane:
		return Range{0, 31}
	case ir.OpClusterRank, ir.OpClusterCtaid:
		return Range{0, maxCluster - 1}
	case ir.OpClusterSize, ir.OpNClusterCtaid:
		return Range{1, maxCluster}
	case ir.OpClusterid:
		return Range{0, maxGrid[v.Imm] - 1}
	case ir.OpDynamicBytes:
		return Range{0, maxShared}
	case ir.OpCtaid:
		return Range{0, maxBlocks(v) - 1}
	case ir.OpNCtaid:
		return Range{1, maxBlocks(v)}
	}
	return FullRange(v.Type)
}

// maxBlocks returns the largest number of blocks along v's axis.
func maxBlocks(v *ir.Value) int64 {
	f, n := v.Block.Func, maxGrid[v.Imm]
	if f.Narrow && f.Block != [3]int{} {
		n = min(n, word.Hi/int64(f.Block[v.Imm]))
	}
	return n
}

// blockRange returns the number of threads in a block along v's axis.
func blockRange(v *ir.Value) Range {
	if fixed := v.Block.Func.Block; fixed != [3]int{} {
		n := int64(fixed[v.Imm])
		return Range{n, n}
	}
	return Range{1, maxBlock[v.Imm]}
}

func constRange(v *ir.Value) Range {
	c := v.Imm
	if v.Type.Kind == ir.KindI1 {
		c &= 1
	} else {
		n := 64 - v.Type.Bits()
		c = c << n >> n
	}
	return Range{c, c}
}
