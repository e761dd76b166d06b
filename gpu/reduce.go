package gpu

import "math/bits"

// WarpReduceAdd returns the sum of v over the threads of the warp, in each of them. All of them get the
// same result, also where the order of the additions makes a difference.
func WarpReduceAdd[T Number](t Thread, v T) T { return reduce[T, sum[T]](t, v) }

// WarpReduceMin returns the least v of the threads of the warp, as the built-in min has it.
func WarpReduceMin[T Number](t Thread, v T) T { return reduce[T, least[T]](t, v) }

// WarpReduceMax returns the greatest v of the threads of the warp, as the built-in max has it.
func WarpReduceMax[T Number](t Thread, v T) T { return reduce[T, greatest[T]](t, v) }

// WarpReduceAnd returns the bits that are set in v of all threads of the warp.
func WarpReduceAnd[T Integer](t Thread, v T) T { return reduce[T, both[T]](t, v) }

// WarpReduceOr returns the bits that are set in v of any thread of the warp.
func WarpReduceOr[T Integer](t Thread, v T) T { return reduce[T, either[T]](t, v) }

// WarpReduceXor returns the bits that are set in v of an odd number of threads of the warp.
func WarpReduceXor[T Integer](t Thread, v T) T { return reduce[T, odd[T]](t, v) }

// operation combines two values; the order of values does not matter, but for rounding.
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

// reduce combines v of all threads. It is compiled for a GPU as it stands here, but for integers of 32 bits. In a full warp
// each thread combines its value with that of a partner, five times; where threads are missing,
// with those that are there, one after the other.
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
