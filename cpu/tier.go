package cpu

import (
	"sync"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// tier is a way to run the threads of a block.
type tier int

const (
	loops      tier = iota // one after another
	coroutines             // in turns, each to its next barrier
	goroutines             // at once, for the race detector
)

// tierOf returns the cheapest tier that runs k, or the one for the race detector.
func tierOf(k *device.Kernel) tier {
	switch {
	case raceDetector:
		return goroutines
	case k.Barriers:
		return coroutines
	default:
		return loops
	}
}

// maxConcurrentBlocks bounds the blocks that run at once as goroutines: the race detector
// ends a program that has more than 8128 of them.
const maxConcurrentBlocks = 4

// loop runs all threads of the block in one call of the kernel. A thread that faults ends
// the block.
func (w *worker) loop() {
	defer w.catch(&w.threads)
	w.threads = gpu.BlockThreads(&w.block)
	w.launch.kernel.Native(&w.threads, w.launch.args)
}

// thread runs the thread of ts, which is one.
func (w *worker) thread(ts *gpu.Threads) {
	defer w.catch(ts)
	w.launch.kernel.Native(ts, w.launch.args)
}

// undeclared is Wait in kernels without barriers: where it is called, the kernel got one
// after its launcher was generated.
func undeclared(int) {
	panic("the kernel was compiled without a barrier; generate the launchers anew")
}

// lanes is how many goroutines run a block whose threads neither wait nor share memory of
// their own. A goroutine for each finds a little more and takes eight times as long.
const lanes = 32

// concurrent runs the threads of the block as goroutines, each in its own where they have
// a barrier, or memory to share that could need one.
func (w *worker) concurrent() {
	n := w.block.Threads()
	members := n
	if k := w.launch.kernel; !k.Barriers && k.Shared == 0 {
		members = min(n, lanes)
	}
	g := newGate(members)
	if w.launch.kernel.Barriers {
		w.block.Wait = func(int) { g.wait() }
	}
	var running sync.WaitGroup
	for m := range members {
		running.Go(func() {
			defer g.leave()
			w.lane(m, members)
		})
	}
	running.Wait()
}

// lane runs every thread whose number, with its row of that many threads, falls to lane m
// of so many. Rows are shifted against each other, so that threads a multiple of lanes apart
// are not in the same lane either.
func (w *worker) lane(m, lanes int) {
	for row := 0; row*lanes < w.block.Threads(); row++ {
		i := row*lanes + (m+row)%lanes
		if i < w.block.Threads() {
			ts := gpu.OneThread(&w.block, threadIndex(i, w.block.Dim))
			w.thread(&ts)
		}
	}
}

// threadIndex returns the index of the thread with number n, x counting fastest.
func threadIndex(n int, dim [3]int) [3]int {
	return [3]int{n % dim[0], n / dim[0] % dim[1], n / dim[0] / dim[1]}
}

// sliceAt reads the address and the length of the slice at offset of a parameter block.
// The address stays a number: the heap looks it up.
func sliceAt(params unsafe.Pointer, offset int) (address uintptr, n int) {
	header := (*[2]uint64)(unsafe.Add(params, offset))
	return uintptr(header[0]), int(header[1])
}
