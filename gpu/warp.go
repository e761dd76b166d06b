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
// A function that exchanges values within a warp waits until each thread of the warp has called the
// function or exited. The last warp of a block may have fewer than 32 threads. A call without the
// argument lanes must not be in a branch that only some threads of the warp take.
//
// In such a branch, pass the set of the threads that take the branch as the argument lanes. Bit i of
// the set is the thread at lane i, as in the result of Ballot:
//
//	lanes := gpu.Ballot(t, x < 0)
//	if x < 0 {
//		sum := gpu.WarpReduceAdd(t, x, lanes)
//	}
//
// The function then waits only for the threads in the set, and combines only their values. A thread faults if it is
// not in the set that it passes. All threads in the set that have not exited must call the same function with the
// same set; otherwise they wait forever on a GPU, and fault on the CPU device.
const WarpSize = simt.WarpSize

const allLanes = simt.AllLanes

// Lane returns the thread's index in its warp, from 0 to 31.
func (t Thread) Lane() int { return t.linear() % WarpSize }

// Warp returns the index of the thread's warp in the block.
func (t Thread) Warp() int { return t.linear() / WarpSize }

// SyncWarp waits until every thread of the warp has called SyncWarp or exited. Writes that the
// threads made to memory before SyncWarp are visible to all these threads after SyncWarp.
func (t Thread) SyncWarp(lanes ...uint32) { t.meet(simt.WarpBarrier, lanes, 0) }

// meet waits for the other threads of the warp, or for those of the lanes if there is a set of them.
func (t Thread) meet(k simt.Kind, lanes []uint32, v uint64) *simt.Meeting {
	set := uint32(allLanes)
	if len(lanes) > 0 {
		set = only(lanes)
	}
	if set>>t.Lane()&1 == 0 {
		panic("the set of lanes does not contain the thread")
	}
	return t.block.Meet(t.linear(), k, set, v)
}

// only returns the set of lanes in a list with one.
func only(lanes []uint32) uint32 {
	if len(lanes) > 1 {
		panic("more than one set of lanes")
	}
	return lanes[0]
}

// Ballot returns the set of threads of the warp for which p is true: bit i is the thread at lane i.
// Ballot(t, true) returns the set of threads that have not exited.
func Ballot(t Thread, p bool, lanes ...uint32) uint32 {
	m := t.meet(simt.Vote, lanes, one(p))
	set := uint32(0)
	for lanes := m.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros32(lanes)
		set |= uint32(m.Values[lane]) << lane
	}
	return set
}

// Any reports whether p is true for at least one thread of the warp.
func Any(t Thread, p bool, lanes ...uint32) bool { return Ballot(t, p, lanes...) != 0 }

// All reports whether p is true for all threads of the warp.
func All(t Thread, p bool, lanes ...uint32) bool { return Ballot(t, !p, lanes...) == 0 }

// Elect reports whether the thread has the lowest lane of all threads of the warp that have not
// exited. Elect returns true for exactly one thread.
func Elect(t Thread, lanes ...uint32) bool {
	return Ballot(t, true, lanes...)&(1<<t.Lane()-1) == 0
}

// Match returns the set of threads of the warp whose v has the same bits as the v of the calling
// thread: bit i is the thread at lane i.
func Match[T Number](t Thread, v T, lanes ...uint32) uint32 {
	m := t.meet(simt.Match, lanes, toBits(v))
	set := uint32(0)
	for lanes := m.Lanes; lanes != 0; lanes &= lanes - 1 {
		if lane := bits.TrailingZeros32(lanes); m.Values[lane] == toBits(v) {
			set |= 1 << lane
		}
	}
	return set
}

// Shuffle returns the v of the thread at the given lane (modulo 32). As in all shuffles, the result
// is arbitrary if that thread has exited, does not exist or does not take part.
func Shuffle[T Number](t Thread, v T, lane int, lanes ...uint32) T {
	return shuffled(t.meet(simt.Shuffle, lanes, toBits(v)), v, lane&(WarpSize-1))
}

// ShuffleUp returns the v of the thread at lane Lane() - delta, or the calling thread's v if that lane is negative. delta is between 0 and 31.
func ShuffleUp[T Number](t Thread, v T, delta int, lanes ...uint32) T {
	return shuffled(t.meet(simt.Shuffle, lanes, toBits(v)), v, t.Lane()-delta&(WarpSize-1))
}

// ShuffleDown returns the v of the thread at lane Lane() + delta, or the calling thread's v if that lane is greater
// than 31. delta is between 0 and 31.
func ShuffleDown[T Number](t Thread, v T, delta int, lanes ...uint32) T {
	return shuffled(t.meet(simt.Shuffle, lanes, toBits(v)), v, t.Lane()+delta&(WarpSize-1))
}

// ShuffleXor returns the v of the thread at lane Lane() ^ mask, so that threads exchange values in
// pairs. mask is between 0 and 31.
func ShuffleXor[T Number](t Thread, v T, mask int, lanes ...uint32) T {
	return shuffled(t.meet(simt.Shuffle, lanes, toBits(v)), v, t.Lane()^mask&(WarpSize-1))
}

// shuffled returns v of the thread at the given lane, or the thread's own v if the lane is out of
// range. An arbitrary result has all bits set here, which is a NaN for floating-point types.
func shuffled[T Number](m *simt.Meeting, v T, lane int) T {
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
