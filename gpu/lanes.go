package gpu

import (
	"math/bits"
	"unsafe"
)

// Lanes exchanges numbers between the threads of a warp that run one after another on the CPU. From
// is the address of the lanes' inputs, and To is the address of their results, with one element for
// each lane. Generated code uses Lanes; kernels do not.
type Lanes[T uint32 | uint64] struct {
	Alive    uint32 // the lanes whose threads take part; the others receive no result
	To, From unsafe.Pointer
}

// Up stores, for each lane i, the input of lane i - delta%32, or of lane i if there is no such
// lane.
func (l *Lanes[T]) Up(delta int32) {
	l.move(func(lane int) int { return lane - int(delta&(WarpSize-1)) })
}

// Down stores, for each lane i, the input of lane i + delta%32, or of lane i if there is no such
// lane.
func (l *Lanes[T]) Down(delta int32) {
	l.move(func(lane int) int { return lane + int(delta&(WarpSize-1)) })
}

// Xor stores, for each lane i, the input of lane i ^ mask%32.
func (l *Lanes[T]) Xor(mask int32) {
	if l.Alive != allLanes {
		l.move(func(lane int) int { return lane ^ int(mask&(WarpSize-1)) })
		return
	}
	to, from := (*[WarpSize]T)(l.To), (*[WarpSize]T)(l.From)
	for lane := range to {
		to[lane] = from[(lane^int(mask))&(WarpSize-1)]
	}
}

// Take stores, for each lane i, the input of lane source[i], or of lane i if there is no such lane.
// The source points to int32 elements, one for each lane.
func (l *Lanes[T]) Take(source unsafe.Pointer) {
	l.move(func(lane int) int { return int(*(*int32)(unsafe.Add(source, lane*4))) })
}

// Match stores a uint32 for each lane: the set of lanes that have the same input.
func (l *Lanes[T]) Match() {
	for lanes := l.Alive; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros32(lanes)
		set := uint32(0)
		for others := l.Alive; others != 0; others &= others - 1 {
			if other := bits.TrailingZeros32(others); *at[T](l.From, other) == *at[T](l.From, lane) {
				set |= 1 << other
			}
		}
		*at[uint32](l.To, lane) = set
	}
}

// move stores, for each lane i, the input of lane source(i), or of lane i if there is no such lane.
func (l *Lanes[T]) move(source func(lane int) int) {
	for lanes := l.Alive; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros32(lanes)
		from := source(lane)
		switch {
		case from < 0 || from >= WarpSize:
			*at[T](l.To, lane) = *at[T](l.From, lane)
		case l.Alive>>from&1 == 0: // arbitrary; the same value as in shuffled
			*at[T](l.To, lane) = ^T(0)
		default:
			*at[T](l.To, lane) = *at[T](l.From, from)
		}
	}
}

// at returns a pointer to element i of an array.
func at[T any](array unsafe.Pointer, i int) *T {
	var zero T
	return (*T)(unsafe.Add(array, i*int(unsafe.Sizeof(zero))))
}
