package gpu

import (
	"math/bits"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// WarpSize is the number of threads in a warp. The threads of a block with linear indices 0 to 31,
// where x varies fastest, form the first warp of the block, the threads with indices 32 to 63 form
// the second warp, and so on.
//
// A function that exchanges values within a warp waits until all threads of the warp that have not
// exited have called it. The last warp of a block may have fewer than 32 threads. The call must not
// be in a branch that only some of these threads take.
const WarpSize = simt.WarpSize

// allLanes is the set of all threads of a warp.
const allLanes = 1<<WarpSize - 1

// Lane returns the thread's index in its warp, from 0 to 31.
func (t Thread) Lane() int { return t.linear() % WarpSize }

// Warp returns the index of the thread's warp in the block.
func (t Thread) Warp() int { return t.linear() / WarpSize }

// SyncWarp waits until every thread of the warp has called SyncWarp or exited. Writes to memory
// that the threads made before SyncWarp are visible to all these threads after SyncWarp.
func (t Thread) SyncWarp() { t.block.Meet(t.linear(), simt.WarpBarrier, 0) }

// Ballot returns the set of threads of the warp for which p is true: bit i is the thread at lane i.
// Ballot(t, true) returns the set of threads that have not exited.
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

// Elect reports whether the thread has the lowest lane of all threads of the warp that have not
// exited. Elect returns true for exactly one thread.
func Elect(t Thread) bool { return Ballot(t, true)&(1<<t.Lane()-1) == 0 }

// Match returns the set of threads of the warp whose v has the same bits as the v of the calling
// thread: bit i is the thread at lane i.
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

// Shuffle returns v of the thread at the given lane, modulo 32. If that thread has exited or does
// not exist, the result is arbitrary.
func Shuffle[T Number](t Thread, v T, lane int) T { return shuffled(t, v, lane&(WarpSize-1)) }

// ShuffleUp returns v of the thread at lane Lane() - delta, or the thread's own v if that lane is
// negative. delta is between 0 and 31.
func ShuffleUp[T Number](t Thread, v T, delta int) T {
	return shuffled(t, v, t.Lane()-delta&(WarpSize-1))
}

// ShuffleDown returns v of the thread at lane Lane() + delta, or the thread's own v if that lane is
// greater than 31. delta is between 0 and 31. If the other thread has exited or does not exist, the
// result is arbitrary.
func ShuffleDown[T Number](t Thread, v T, delta int) T {
	return shuffled(t, v, t.Lane()+delta&(WarpSize-1))
}

// ShuffleXor returns v of the thread at lane Lane() ^ mask, so that threads exchange values in
// pairs. mask is between 0 and 31. If the other thread has exited or does not exist, the result is
// arbitrary.
func ShuffleXor[T Number](t Thread, v T, mask int) T {
	return shuffled(t, v, t.Lane()^mask&(WarpSize-1))
}

// shuffled returns v of the thread at the given lane, or the thread's own v if the lane is out of
// range. An arbitrary result has all bits set here, which is a NaN for floating-point types.
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

// toBits returns the bits of v, extended with zeros.
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
