package prim

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// Op is an associative operation on two numbers, for reductions and scans.
type Op int

// The operations. Min and Max are the built-in functions of Go: a NaN operand gives NaN, and -0 is
// less than 0.
const (
	Add Op = iota // integers wrap around
	Min
	Max
)

// String returns the operation's name in lower case.
func (op Op) String() string {
	switch op {
	case Add:
		return "add"
	case Min:
		return "min"
	case Max:
		return "max"
	}
	return fmt.Sprintf("Op(%d)", int(op))
}

func (op Op) check() error {
	if op < Add || op > Max {
		return fmt.Errorf("%v: %w", op, errors.ErrUnsupported)
	}
	return nil
}

// operator is the type parameter of the kernels that represents an Op.
type operator interface {
	add | least | greatest
	op() Op
}

type (
	add      struct{}
	least    struct{}
	greatest struct{}
)

func (add) op() Op      { return Add }
func (least) op() Op    { return Min }
func (greatest) op() Op { return Max }

// join returns a combined with b.
func join[T number, O operator](a, b T) T {
	var o O
	switch o.op() {
	case Add:
		return a + b
	case Min:
		return min(a, b)
	default:
		return max(a, b)
	}
}

// joinPack combines the numbers of a pack, adjacent ones first.
func joinPack[T number, A pack[T], O operator](v A) T {
	if len(v) == 2 {
		return join[T, O](v[0], v[1])
	}
	return join[T, O](join[T, O](v[0], v[1]), join[T, O](v[len(v)-2], v[len(v)-1]))
}

// neutral returns the neutral element of op, which is the reduction of no elements.
func neutral[T number](op Op) T {
	if op == Add {
		return 0
	}
	least, greatest := limits[T]()
	if op == Min {
		return greatest
	}
	return least
}

// limits returns the least and the greatest T, which for floating-point types are infinities.
func limits[T number]() (least, greatest T) {
	var v any
	switch any(least).(type) {
	case int32:
		v = [2]int32{math.MinInt32, math.MaxInt32}
	case int64:
		v = [2]int64{math.MinInt64, math.MaxInt64}
	case uint32:
		v = [2]uint32{0, math.MaxUint32}
	case uint64:
		v = [2]uint64{0, math.MaxUint64}
	case float32:
		v = [2]float32{float32(math.Inf(-1)), float32(math.Inf(1))}
	case float64:
		v = [2]float64{math.Inf(-1), math.Inf(1)}
	}
	both := v.([2]T)
	return both[0], both[1]
}

// warpJoin returns the reduction of v over the threads of the warp to all of them.
func warpJoin[T number, O operator](t gpu.Thread, v T) T {
	for d := 16; d > 0; d /= 2 {
		v = join[T, O](v, gpu.ShuffleXor(t, v, d))
	}
	return v
}

// warpScan returns the inclusive scan of v over the threads of the warp.
func warpScan[T number, O operator](t gpu.Thread, v T) T {
	lane := t.Lane()
	for d := 1; d < gpu.WarpSize; d *= 2 {
		if below := gpu.ShuffleUp(t, v, d); lane >= d {
			v = join[T, O](below, v)
		}
	}
	return v
}
