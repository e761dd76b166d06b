package cpu

import (
	"sync"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// tier is a way to run the threads of a block.
type tier int

const (
	loops      tier = iota // one after another
	twins                  // by code that runs whole blocks
	coroutines             // in turns, each until it must wait for others
	goroutines             // in parallel, for kernels that wait in memory and for the race detector
)

// tierOf returns the cheapest tier that can run k, or in a program built with -race, the one for
// the race detector.
func tierOf(k *driver.Kernel) tier {
	if k.Twin != nil && !raceDetector && !k.Spins {
		return twins
	}
	return nativeTier(k)
}

// nativeTier is tierOf among the tiers that call the kernel function itself.
func nativeTier(k *driver.Kernel) tier {
	switch {
	case raceDetector || k.Spins:
		return goroutines
	case k.Barriers:
		return coroutines
	default:
		return loops
	}
}

// maxConcurrentBlocks and maxConcurrentThreads bound the goroutines that run in parallel under the
// race detector: it distinguishes some 250 goroutines (ThreadSanitizer's slots) and forgets the
// others.
const (
	maxConcurrentBlocks  = 4
	maxConcurrentThreads = 240
)

// loop runs all threads of the block in one call of the kernel. A thread that faults ends
// the block.
func (w *worker) loop() {
	defer w.catch(&w.threads)
	w.threads = gpu.BlockThreads(&w.block)
	w.launch.kernel.Native(&w.threads, w.launch.args)
}

// thread runs the only thread of ts.
func (w *worker) thread(ts *gpu.Threads) {
	defer w.catch(ts)
	if w.launch.kernel.Spins {
		var leave func()
		withoutRaceSync(func() { leave = w.launch.halt.Enter() })
		defer withoutRaceSync(leave)
	}
	w.launch.kernel.Native(ts, w.launch.args)
}

// undeclared is Meet in kernels whose threads do not wait for each other. If it is called, the
// kernel got a barrier after its launcher was generated.
func undeclared(int, simt.Kind, uint32, uint64) *simt.Meeting {
	panic("the kernel was compiled without a barrier; regenerate the launchers")
}

// lanes is the number of goroutines that run a block whose threads neither wait nor share memory.
// One goroutine per thread would find a few more races and take eight times as long.
const lanes = 32

// concurrent runs the threads of the block as goroutines: one per thread if the threads wait for
// each other, or share memory, which may need a barrier.
func (w *worker) concurrent() {
	n := w.block.Threads()
	k := w.launch.kernel
	if k.Barriers {
		w.together(n)
		return
	}
	members := n
	if k.Shared+k.Dynamic+w.launch.shared == 0 && !k.Spins {
		members = min(n, lanes)
	}
	var running sync.WaitGroup
	for m := range members {
		running.Go(func() { w.lane(m, members) })
	}
	running.Wait()
}

// together runs n threads that wait for each other.
func (w *worker) together(n int) {
	m := newMeetings(n)
	m.detector.begin(n)
	w.prepare(n, m)
	w.meet(n, m)
}

// prepare lets n threads of the worker's block wait for each other through m.
func (w *worker) prepare(n int, m *meetings) {
	m.begin(n)
	m.grid = w.launch.barrier.wait
	m.gates = true
	m.sleep = func(gate <-chan struct{}, _ int) { <-gate }
	m.wake = func(p *meetingPoint, _ []int) { p.open() }
	w.block.Meet, w.block.Await, w.block.Notify = m.meet, m.await, m.notify
}

// meet runs n threads that wait for each other through m.
func (w *worker) meet(n int, m *meetings) {
	var running sync.WaitGroup
	line := newStartBarrier(n)
	for i := range n {
		running.Go(func() {
			line.wait()
			defer m.leave(i)
			if w.block.Cluster != nil {
				defer w.block.Leave(i)
			}
			ts := gpu.OneThread(&w.block, threadIndex(i, w.block.Dim))
			w.thread(&ts)
		})
	}
	line.start()
	running.Wait()
}

// lane runs the threads of lane m out of the given number of lanes. Each row of that many
// consecutive threads has one thread in each lane. Rows are shifted against each other, so that
// threads whose distance is a multiple of lanes are in different lanes too.
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

// sliceAt reads the address and the length of the slice at offset in a parameter block. The address
// remains a number; the heap looks it up.
func sliceAt(params unsafe.Pointer, offset int) (address uintptr, n int) {
	header := (*[2]uint64)(unsafe.Add(params, offset))
	return uintptr(header[0]), int(header[1])
}
