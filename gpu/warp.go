package gpu

import (
	"math/bits"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// WarpSize is the number of threads in a warp. The threads of a block whose linear indices (x
// counting fastest) are 0 to 31 are its first warp, those with 32 to 63 the second, and so on.
//
// The functions that exchange values within a warp wait until all threads of the warp that
// have not left the kernel have called the same function: none of them may stand in a branch
// that only some of these threads take. A thread that left, also by a fault, or that the block
// does not have, is not waited for.
const WarpSize = simt.WarpSize

// allLanes is the set of all threads of a warp.
const allLanes = 1<<WarpSize - 1

// Lane returns the thread's index in its warp, 0 to 31.
func (t Thread) Lane() int { return t.linear() % WarpSize }

// Warp returns the index of the thread's warp in the block.
func (t Thread) Warp() int { return t.linear() / WarpSize }

// SyncWarp waits until every thread of the warp has called SyncWarp or left the kernel. What
// they wrote to memory before it is seen by all of them after it.
func (t Thread) SyncWarp() { t.block.Meet(t.linear(), simt.WarpBarrier, 0) }

// Ballot returns the set of the warp's threads for which p is true, as bits by lane. With true it
// is the set of the threads that have not left.
func Ballot(t Thread, p bool) uint32 {
	m := t.block.Meet(t.linear(), simt.Vote, one(p))
	set := uint32(0)
	for lanes := m.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros32(lanes)
		set |= uint32(m.Values[lane]) << lane
	}
	return set
}

// Any reports whether p is true for any thread of the warp.
func Any(t Thread, p bool) bool { return Ballot(t, p) != 0 }

// All reports whether p is true for all threads of the warp.
func All(t Thread, p bool) bool { return Ballot(t, !p) == 0 }

// Elect reports whether the thread is the first of its warp that has not left: it is true for one of them.
func Elect(t Thread) bool { return Ballot(t, true)&(1<<t.Lane()-1) == 0 }

// Match returns the set of the warp's threads whose v has the same bits as this thread's.
func Match[T Number](t Thread, v T) uint32 {
	m := t.block.Meet(t.linear(), simt.Match, toBits(v))
	set := uint32(0)
	for lanes := m.Lanes; lanes != 0; lanes &= lanes - 1 {
		if lane := bits.TrailingZeros32(lanes); m.Values[lane] == toBits(v) {
			set |= 1 << lane
		}
	}
	return set
}

// Shuffle returns the v of the thread at the given lane, modulo 32. Where that thread has left or
// does not exist, the result is arbitrary.
func Shuffle[T Number](t Thread, v T, lane int) T { return shuffled(t, v, lane&(WarpSize-1)) }

// ShuffleUp returns the v of the thread whose lane is lower by delta, 0 to 31, and v itself where
// there is no such lane.
func ShuffleUp[T Number](t Thread, v T, delta int) T {
	return shuffled(t, v, t.Lane()-delta&(WarpSize-1))
}

// ShuffleDown returns the v of the thread whose lane is higher by delta, 0 to 31, and v itself where
// there is no such lane. The result is arbitrary where the thread has left or does not exist.
func ShuffleDown[T Number](t Thread, v T, delta int) T {
	return shuffled(t, v, t.Lane()+delta&(WarpSize-1))
}

// ShuffleXor returns the v of the thread whose lane differs in the bits of mask, 0 to 31: threads
// exchange their values in pairs. The result is arbitrary where the other thread has left or
// does not exist.
func ShuffleXor[T Number](t Thread, v T, mask int) T {
	return shuffled(t, v, t.Lane()^mask&(WarpSize-1))
}

// shuffled returns the v of another lane, v itself where it is no lane. What is arbitrary is
// all ones here, a NaN among the floats.
func shuffled[T Number](t Thread, v T, lane int) T {
	m := t.block.Meet(t.linear(), simt.Shuffle, toBits(v))
	switch {
	case lane < 0 || lane >= WarpSize:
		return v
	case m.Lanes>>lane&1 == 0:
		return fromBits[T](1<<64 - 1)
	}
	return fromBits[T](m.Values[lane])
}

// toBits returns the bits of v, those above its size zero.
func toBits[T Number](v T) uint64 {
	if unsafe.Sizeof(v) == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&v)))
	}
	return *(*uint64)(unsafe.Pointer(&v))
}

func fromBits[T Number](b uint64) (v T) {
	if unsafe.Sizeof(v) == 4 {
		*(*uint32)(unsafe.Pointer(&v)) = uint32(b)
	} else {
		*(*uint64)(unsafe.Pointer(&v)) = b
	}
	return v
}
