package gpu

import (
	"math/bits"
	"unsafe"
)

// Lanes exchanges numbers between the threads of a warp that are run one after another: what all of
// them have brought is at From, the results go to To, an element for each lane. Generated
// code uses it; kernels do not.
type Lanes[T uint32 | uint64] struct {
	Alive    uint32 // the lanes whose threads have come; others have no results
	To, From unsafe.Pointer
}

// Up gives each lane what the one has that is lower by the last five bits of delta, or its own.
func (l *Lanes[T]) Up(delta int32) {
	l.move(func(lane int) int { return lane - int(delta&(WarpSize-1)) })
}

// Down gives each lane what the one has that is higher by the last five bits of delta, or its own.
func (l *Lanes[T]) Down(delta int32) {
	l.move(func(lane int) int { return lane + int(delta&(WarpSize-1)) })
}

// Xor gives each lane what the one has that differs in the last five bits of mask.
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

// Take gives each lane what that has which it names in source, int32s; where it is none, its own.
func (l *Lanes[T]) Take(source unsafe.Pointer) {
	l.move(func(lane int) int { return int(*(*int32)(unsafe.Add(source, lane*4))) })
}

// Match gives each lane, as a uint32, the set of those that have the same.
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

// move gives each lane what the one has that source returns for it.
func (l *Lanes[T]) move(source func(lane int) int) {
	for lanes := l.Alive; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros32(lanes)
		from := source(lane)
		switch {
		case from < 0 || from >= WarpSize:
			*at[T](l.To, lane) = *at[T](l.From, lane)
		case l.Alive>>from&1 == 0: // arbitrary, as shuffled has it
			*at[T](l.To, lane) = ^T(0)
		default:
			*at[T](l.To, lane) = *at[T](l.From, from)
		}
	}
}

// at returns element i of an array.
func at[T any](array unsafe.Pointer, i int) *T {
	var zero T
	return (*T)(unsafe.Add(array, i*int(unsafe.Sizeof(zero))))
}
