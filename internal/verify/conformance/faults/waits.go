package faults

import (
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// besideLoad lets one thread fault that the others wait for, in all ways to wait by a load.
//
//gpu:kernel
func besideLoad(t gpu.Thread, kind, who int, flags, x []int32) {
	if t.GlobalX() == who {
		x[len(x)] = 1 // beside load
		gpu.AtomicStore(&flags[0], 1, gpu.Release)
	}
	switch kind {
	case 0:
		for gpu.AtomicLoad(&flags[0], gpu.Acquire) == 0 {
		}
	case 1: // with something to do meanwhile
		for i := 0; ; i++ {
			x[t.GlobalX()]++
			if gpu.AtomicLoad(&flags[0]) > 0 && i > 3 {
				break
			}
		}
	case 2: // the whole system's
		for gpu.AtomicLoad(&flags[0], gpu.Sequential, gpu.SystemScope) < 1 {
		}
	case 3: // in a function
		waitFor(flags)
	case 4: // what is compared comes from the loop before
		seen := int32(0)
		for seen == 0 {
			seen = gpu.AtomicLoad(&flags[0])
		}
		x[t.GlobalX()] = seen
	}
	x[t.GlobalX()] = 5
}

func waitFor(flags []int32) {
	for {
		if gpu.AtomicLoad(&flags[0], gpu.Acquire) != 0 {
			return
		}
	}
}

// besideChange lets one thread fault that the others wait for, in all ways to wait by an operation that
// changes memory.
//
//gpu:kernel
func besideChange(t gpu.Thread, kind, who int, flags, x []int32) {
	if t.GlobalX() == who {
		x[len(x)+3] = 1 // beside change
	}
	switch kind {
	case 0: // a lock that nobody gives back
		for {
			if _, ok := gpu.AtomicCompareAndSwap(&flags[1], 0, 1, gpu.Acquire); ok {
				break
			}
		}
	case 1:
		for gpu.AtomicExchange(&flags[1], 1) != 0 {
		}
	case 2:
		for gpu.AtomicAdd(&flags[0], 0) == 0 {
		}
	case 3:
		for gpu.AtomicMax(&flags[0], 0) == 0 {
		}
	case 4:
		for gpu.AtomicOr(&flags[0], 0) == 0 {
		}
	case 5: // a barrier of one's own
		gpu.AtomicAdd(&flags[2], 1, gpu.Release)
		for int(gpu.AtomicLoad(&flags[2], gpu.Acquire)) < t.GridDimX()*t.BlockDimX() {
		}
	}
	x[t.GlobalX()] = 5
}

// besideShared lets one thread fault that the others of its block wait for, in shared memory. The
// other blocks have no such thread and go on.
//
//gpu:kernel
//gpu:block 64
func besideShared(t gpu.Thread, who int, x []int32) {
	ready := gpu.Shared[int32](t)
	if t.ThreadX() == 0 {
		*ready = 0
	}
	t.Sync()
	if t.GlobalX() == who {
		panic("before it is ready") // beside shared
	}
	if t.ThreadX() == who%64 {
		gpu.AtomicStore(ready, 1, gpu.Release, gpu.BlockScope)
	}
	for gpu.AtomicLoad(ready, gpu.Acquire, gpu.BlockScope) == 0 {
	}
	t.Sync()
	x[t.GlobalX()] = 5
}

// besideStandard lets one thread fault that the others wait for by package sync/atomic.
//
//gpu:kernel
func besideStandard(t gpu.Thread, who int, flags, x []int32) {
	if t.GlobalX() == who {
		x[len(x)+3] = 1 // beside standard
	}
	for atomic.LoadInt32(&flags[0]) == 0 {
	}
	for !atomic.CompareAndSwapInt32(&flags[1], 0, 1) {
	}
	x[t.GlobalX()] = 5
}

// besideGrid lets one thread fault in the middle of a loop in which the blocks wait for each other.
//
//gpu:kernel
func besideGrid(t gpu.Thread, who, turn int, x []int32) {
	for i := range 5 {
		if t.GlobalX() == who && i == turn {
			x[who] = x[len(x)+i] // beside grid
		}
		t.SyncGrid()
		x[t.GlobalX()]++
	}
}

// handOver passes a number through the threads of all blocks, from the last one to the first, each of
// which waits for the one behind it.
//
//gpu:kernel
func handOver(t gpu.Thread, x []int32, bad int) {
	i := t.GlobalX()
	if i == bad {
		panic("dropped") // hand over
	}
	for gpu.AtomicLoad(&x[i+1], gpu.Acquire) == 0 {
	}
	gpu.AtomicStore(&x[i], x[i+1]+1, gpu.Release)
}

// lookBack has each thread look at those before it, one after another, waits for each, and stores how many
// there are.
//
//gpu:kernel
func lookBack(t gpu.Thread, x []int32, bad int) {
	i := t.GlobalX()
	if i == bad {
		panic("skipped") // look back
	}
	sum := int32(1)
	for k := i - 1; k >= 0; k-- {
		word := gpu.AtomicLoad(&x[k])
		for word == 0 {
			word = gpu.AtomicLoad(&x[k])
		}
		if sum += word & 0xffff; word>>16 != 0 { // it knows all before it
			break
		}
	}
	gpu.AtomicStore(&x[i], 1<<16|sum)
}

// besideArrivals lets one thread fault that the others of its block wait for at a barrier that counts
// arrivals.
//
//gpu:kernel
//gpu:block 64
func besideArrivals(t gpu.Thread, who int, x []int32) {
	full := gpu.Shared[gpu.Barrier](t)
	if t.ThreadX() == 0 {
		full.Init(t, 64)
	}
	t.Sync()
	for phase := range 3 {
		if t.GlobalX() == who && phase == 1 {
			x[who] = x[len(x)] // beside arrivals
		}
		full.Arrive(t)
		full.Wait(t, phase)
		x[t.GlobalX()]++
	}
}

// besideDone lets one thread fault that the others of its block wait for in a loop that looks at a barrier, with
// or without something to do meanwhile.
//
//gpu:kernel
//gpu:block 64
func besideDone(t gpu.Thread, kind, who int, x []int32) {
	full := gpu.Shared[gpu.Barrier](t)
	if t.ThreadX() == 0 {
		full.Init(t, 64)
	}
	t.Sync()
	for phase := range 3 {
		if t.GlobalX() == who && phase == 1 {
			x[who] = x[len(x)] // beside done
		}
		full.Arrive(t)
		switch kind {
		case 0:
			for !full.Done(t, phase) {
			}
		case 1:
			for work := int32(1); ; work++ {
				if full.Done(t, phase) {
					break
				}
				x[t.GlobalX()] += work >> 31
			}
		case 2:
			over := false
			for !over {
				over = t.ThreadX() < 0 || full.Done(t, phase)
			}
		}
		x[t.GlobalX()]++
	}
}
