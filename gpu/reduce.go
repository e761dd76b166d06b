package gpu

import "math/bits"

// WarpReduceAdd returns the sum of v over all threads of the warp. All threads receive the same
// bits.
func WarpReduceAdd[T Number](t Thread, v T, lanes ...uint32) T {
	if len(lanes) > 0 {
		return reduceSome[T, sum[T]](t, v, only(lanes))
	}
	return reduce[T, sum[T]](t, v)
}

// WarpReduceMin returns the minimum of v over all threads of the warp, as defined by the built-in
// min.
func WarpReduceMin[T Number](t Thread, v T, lanes ...uint32) T {
	if len(lanes) > 0 {
		return reduceSome[T, least[T]](t, v, only(lanes))
	}
	return reduce[T, least[T]](t, v)
}

// WarpReduceMax returns the maximum of v over all threads of the warp, as defined by the built-in
// max.
func WarpReduceMax[T Number](t Thread, v T, lanes ...uint32) T {
	if len(lanes) > 0 {
		return reduceSome[T, greatest[T]](t, v, only(lanes))
	}
	return reduce[T, greatest[T]](t, v)
}

// WarpReduceAnd returns the bitwise AND of v over all threads of the warp.
func WarpReduceAnd[T Integer](t Thread, v T, lanes ...uint32) T {
	if len(lanes) > 0 {
		return reduceSome[T, both[T]](t, v, only(lanes))
	}
	return reduce[T, both[T]](t, v)
}

// WarpReduceOr returns the bitwise OR of v over all threads of the warp.
func WarpReduceOr[T Integer](t Thread, v T, lanes ...uint32) T {
	if len(lanes) > 0 {
		return reduceSome[T, either[T]](t, v, only(lanes))
	}
	return reduce[T, either[T]](t, v)
}

// WarpReduceXor returns the bitwise XOR of v over all threads of the warp.
func WarpReduceXor[T Integer](t Thread, v T, lanes ...uint32) T {
	if len(lanes) > 0 {
		return reduceSome[T, odd[T]](t, v, only(lanes))
	}
	return reduce[T, odd[T]](t, v)
}

// operation combines two values. It is commutative, and associative except for rounding.
type operation[T any] interface{ combine(a, b T) T }

type (
	sum[T Number]      struct{}
	least[T Number]    struct{}
	greatest[T Number] struct{}
	both[T Integer]    struct{}
	either[T Integer]  struct{}
	odd[T Integer]     struct{}
)

func (sum[T]) combine(a, b T) T      { return a + b }
func (least[T]) combine(a, b T) T    { return min(a, b) }
func (greatest[T]) combine(a, b T) T { return max(a, b) }
func (both[T]) combine(a, b T) T     { return a & b }
func (either[T]) combine(a, b T) T   { return a | b }
func (odd[T]) combine(a, b T) T      { return a ^ b }

// reduce combines v of all threads of the warp. Except for 32-bit integers, the compiler compiles
// this code for a GPU too. In a full warp, each thread combines its value with that of a partner in
// each of five steps. If threads are missing, each thread combines the values of the present
// threads in order of their lanes.
func reduce[T Number, O operation[T]](t Thread, v T) T {
	var op O
	lanes := Ballot(t, true)
	if lanes == allLanes {
		for distance := WarpSize / 2; distance > 0; distance /= 2 {
			v = op.combine(v, ShuffleXor(t, v, distance))
		}
		return v
	}
	all := Shuffle(t, v, bits.TrailingZeros32(lanes))
	for lanes &= lanes - 1; lanes != 0; lanes &= lanes - 1 {
		all = op.combine(all, Shuffle(t, v, bits.TrailingZeros32(lanes)))
	}
	return all
}

// reduceSome combines v of the threads of a set, in order of their lanes.
func reduceSome[T Number, O operation[T]](t Thread, v T, set uint32) T {
	var op O
	lanes := Ballot(t, true, set)
	all := Shuffle(t, v, bits.TrailingZeros32(lanes), set)
	for lanes &= lanes - 1; lanes != 0; lanes &= lanes - 1 {
		all = op.combine(all, Shuffle(t, v, bits.TrailingZeros32(lanes), set))
	}
	return all
}
