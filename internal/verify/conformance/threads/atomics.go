package threads

import (
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// added is memory that all threads change at once.
type added[T any] struct {
	Add, Sub, Min, Max, Exchanged, Swapped, Counted, Spread, Stored T
}

// changed is where threads leave what the operations returned: how often each old value was seen.
type bitwise[T any] struct{ And, Or, Xor, SetBits, ClearBits T }

func addUp[T int32 | uint32 | int64 | uint64 | float32 | float64](t gpu.Thread, m *added[T], seen []int32) {
	i := t.GlobalX()
	old := gpu.AtomicAdd(&m.Add, 1)
	seen[int(old)]++
	gpu.AtomicSub(&m.Sub, 2)
	gpu.AtomicMin(&m.Min, T(1000-i))
	gpu.AtomicMax(&m.Max, T(i*3))
	if i == 5 {
		gpu.AtomicExchange(&m.Exchanged, 77)
	}
	for tries := true; tries; {
		was := gpu.AtomicLoad(&m.Swapped)
		_, done := gpu.AtomicCompareAndSwap(&m.Swapped, was, was+3)
		tries = !done
	}
	if i%3 == 0 {
		gpu.AtomicAdd(&m.Counted, T(i))
	}
	gpu.AtomicStore(&m.Stored, 9)
}

//gpu:kernel
func addInt32(t gpu.Thread, m []added[int32], seen []int32) { addUp(t, &m[0], seen) }

//gpu:kernel
func addUint32(t gpu.Thread, m []added[uint32], seen []int32) { addUp(t, &m[0], seen) }

//gpu:kernel
func addInt64(t gpu.Thread, m []added[int64], seen []int32) { addUp(t, &m[0], seen) }

//gpu:kernel
func addUint64(t gpu.Thread, m []added[uint64], seen []int32) { addUp(t, &m[0], seen) }

//gpu:kernel
func addFloat32(t gpu.Thread, m []added[float32], seen []int32) { addUp(t, &m[0], seen) }

//gpu:kernel
func addFloat64(t gpu.Thread, m []added[float64], seen []int32) { addUp(t, &m[0], seen) }

func combine[T int32 | uint32 | int64 | uint64](t gpu.Thread, m *bitwise[T]) {
	i := T(t.GlobalX())
	gpu.AtomicAnd(&m.And, ^(i & 0x15))
	gpu.AtomicOr(&m.Or, i<<3)
	gpu.AtomicXor(&m.Xor, i*i)
	gpu.AtomicOr(&m.SetBits, 1<<(i%31))
	gpu.AtomicAnd(&m.ClearBits, ^(1 << (i % 13)))
}

//gpu:kernel
func combine32(t gpu.Thread, m []bitwise[int32]) { combine(t, &m[0]) }

//gpu:kernel
func combine64(t gpu.Thread, m []bitwise[uint64]) { combine(t, &m[0]) }

// standard uses package sync/atomic and orders.
//
//gpu:kernel
func standard(t gpu.Thread, n []int32, flags []uint32, data []int64) {
	atomic.AddInt32(&n[0], 2)
	if atomic.CompareAndSwapInt32(&n[1], 0, 1) {
		atomic.StoreInt32(&n[2], atomic.LoadInt32(&n[2])+1)
	}
	atomic.AddInt64(&data[0], int64(t.GlobalX()))
	atomic.OrUint32(&flags[0], 1<<(t.GlobalX()%32))
	gpu.AtomicAdd(&n[3], 1, gpu.AcquireRelease, gpu.SystemScope)
	gpu.AtomicMax(&n[4], int32(t.GlobalX()), gpu.BlockScope)
	gpu.Fence()
	gpu.Fence(gpu.Sequential, gpu.BlockScope)
}

// lastBlock lets the block that comes last add up what the others left.
//
//gpu:kernel
func lastBlock(t gpu.Thread, parts []int64, done []int32, sum []int64) {
	last := gpu.Shared[bool](t)
	if t.ThreadX() == 0 {
		parts[t.BlockX()] = int64(t.BlockX()) * 7
		gpu.Fence()
		*last = int(gpu.AtomicAdd(&done[0], 1)) == t.GridDimX()-1
	}
	t.Sync()
	if *last && t.ThreadX() == 0 {
		gpu.Fence()
		for i := range t.GridDimX() {
			sum[0] += gpu.AtomicLoad(&parts[i])
		}
	}
}

// queue lets each thread take tickets and fill the places that they name.
//
//gpu:kernel
func queue(t gpu.Thread, head []uint32, taken []int32) {
	for range 3 {
		ticket := gpu.AtomicAdd(&head[0], 1)
		taken[ticket]++
	}
}
