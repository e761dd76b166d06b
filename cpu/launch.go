package cpu

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// chunksPerWorker is the number of chunks in each worker's fair share of the blocks. Other workers
// can take chunks from a worker whose blocks are slow.
const chunksPerWorker = 16

// launch runs one kernel at a time. A queue reuses it and its workers, so that a launch allocates
// nothing.
type launch struct {
	kernel *driver.Kernel
	args   unsafe.Pointer // the parameter block
	grid   [3]int
	dim    [3]int
	shared int // bytes of dynamic shared memory
	// cluster is the number of blocks along each axis of a cluster, whose blocks run at the same
	// time; zeros if the launch has no clusters.
	cluster [3]int
	barrier *gridBarrier // for all blocks of a cooperative launch, which run at the same time; otherwise nil
	tier    tier
	lanes   int    // the number of threads that vector code runs at a time
	number  uint32 // counts launches
	prints  *prints

	total, chunk int64 // the number of blocks, and how many a worker takes at a time
	pool         workerPool
	workers      []*worker
	first, end   int      // the range of workers that run on goroutines
	shares       []*share // one for each worker
	sharing      []*share // those that the current launch uses

	mu    sync.Mutex
	fault *driver.Fault
	halt  simt.Halt // for a kernel that waits in memory
	// last is the last block that must run: after a fault, the lowest block that faulted. All
	// blocks below it run, so which fault is reported does not depend on the schedule.
	last atomic.Int64
}

// run runs p's kernel and returns its fault, if any.
func (l *launch) run(p *driver.Plan, t tier) *driver.Fault {
	l.kernel, l.args, l.tier = p.Kernel(), p.Params(), t
	if p.Options().Cluster != (driver.Dim{}) {
		l.tier = goroutines
	}
	l.grid, l.dim = p.Grid()
	l.shared = p.Options().Shared
	l.barrier, l.cluster = nil, p.Cluster()
	l.number++
	l.total = int64(l.grid[0]) * int64(l.grid[1]) * int64(l.grid[2])
	if p.Options().Cooperative {
		l.barrier = newGridBarrier(int(l.total))
	}
	l.last.Store(math.MaxInt64)
	if l.kernel.Spins {
		l.halt.Begin()
		defer l.halt.End()
	}
	l.work(l.staff())
	fault := l.fault
	l.kernel, l.args, l.fault = nil, nil, nil
	return fault
}

// staff returns how many workers the launch gets.
func (l *launch) staff() int {
	if l.cluster != [3]int{} {
		return l.clusterStaff()
	}
	n := int(min(int64(runtime.GOMAXPROCS(0)), l.total))
	switch {
	case l.barrier != nil:
		n = int(l.total)
	case l.kernel.Spins: // as many as possible: blocks may wait for each other
		n = int(min(int64(max(1, maxCooperative/(l.dim[0]*l.dim[1]*l.dim[2]))), l.total))
	case l.tier == goroutines:
		n = min(n, maxConcurrentBlocks, max(1, maxConcurrentThreads/(l.dim[0]*l.dim[1]*l.dim[2])))
	}
	for len(l.workers) < n {
		l.workers = append(l.workers, newWorker(l))
	}
	return n
}

// ordered reports whether blocks must start in order: they run at the same time, and may wait for
// earlier blocks.
func (l *launch) ordered() bool {
	return l.kernel.Spins || l.barrier != nil || l.tier == goroutines
}

// work lets n workers run all blocks. The caller is one of them, unless threads are coroutines,
// which must not run on a goroutine that may be locked to its OS thread.
func (l *launch) work(n int) {
	chunks := l.cut(n)
	l.share(chunks, n)
	l.first, l.end = 1, n
	if l.tier == coroutines {
		l.first = 0
	}
	l.pool.begin(l.number, l.first)
	started := false
	for _, w := range l.workers[l.first:n] {
		started = w.start() || started
	}
	if started {
		go idle()
	}
	if l.first == 1 {
		l.workers[0].run()
		l.pool.leave()
	}
	l.pool.finish(l.exhausted)
}

// idle does nothing. The scheduler reserves the goroutine that was started last for its own processor, for some
// 50 us: with idle as the last one, other processors can run all workers.
func idle() {}

// cut sets how many blocks a chunk has, and returns the number of chunks.
func (l *launch) cut(workers int) int64 {
	switch {
	case l.cluster != [3]int{}:
		l.chunk = int64(l.clusterSize())
	case l.kernel.Spins:
		l.chunk = 1 + l.total/maxChunks
	default:
		l.chunk = max(1+l.total/maxChunks, l.total/int64(workers*chunksPerWorker))
	}
	return (l.total + l.chunk - 1) / l.chunk
}

// report records f, the fault of a thread in the block with the given number, unless an earlier
// block, or an earlier thread of the same block, has faulted.
func (l *launch) report(block int64, f *driver.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if block < l.last.Load() {
		l.last.Store(block)
		l.fault = f
	}
	if l.kernel.Spins {
		l.halt.Stop()
	}
}

// worker runs blocks, one after another.
type worker struct {
	launch  *launch
	index   int         // among the launch's workers
	present atomic.Bool // a goroutine serves the worker
	seen    uint32      // the number of the last launch that it joined
	number  int64       // of the block
	block   simt.Block
	threads gpu.Threads // of the block, in tier loops
	walk    simt.Walk   // over the blocks, in tier twins
	blocks  gpu.Blocks  // the blocks of walk
	peers   []*worker   // one for each block of a cluster, if the launch has clusters
	body    func()      // serve, bound once so that a go statement allocates nothing
}

func newWorker(l *launch) *worker {
	w := &worker{launch: l, index: len(l.workers)}
	w.body = w.serve
	w.block.Print = func(line simt.Line) { l.prints.add(l.number, line) }
	w.walk.Block, w.walk.Fault, w.walk.Lanes = &w.block, w.fault, l.lanes
	w.blocks = gpu.WalkBlocks(&w.walk)
	return w
}

// run runs blocks until none is left.
func (w *worker) run() {
	w.block.Dynamic = w.launch.shared
	w.block.Begin(w.launch.dim, w.launch.grid)
	w.block.Meet = undeclared
	switch w.launch.tier {
	case coroutines:
		t := newTeam(w)
		defer t.stop()
		w.each(t.run)
	case goroutines:
		if w.launch.cluster != [3]int{} {
			w.clusters()
			return
		}
		w.each(w.concurrent)
	case twins:
		w.whole()
	default:
		w.each(w.loop)
	}
}

// each takes blocks and calls f for each, after setting w.block to it.
func (w *worker) each(f func()) {
	l := w.launch
	for first, end := range w.chunks {
		index := blockIndex(first, l.grid)
		for w.number = first; w.number < end && (w.number <= l.last.Load() || l.barrier != nil); w.number++ {
			w.block.Enter(index)
			f()
			if l.barrier != nil {
				l.barrier.leave()
			}
			advance(&index, l.grid)
		}
	}
}

// chunks yields ranges of blocks that still have to run and that no other worker has taken.
func (w *worker) chunks(yield func(first, end int64) bool) {
	l := w.launch
	for chunk, ok := w.take(); ok; chunk, ok = w.take() {
		first := chunk * l.chunk
		if first > l.last.Load() && l.barrier == nil {
			w.drop()
		} else if !yield(first, min(first+l.chunk, l.total)) {
			return
		}
	}
}

// blockIndex returns the index of the block with number n, x counting fastest.
func blockIndex(n int64, grid [3]int) [3]int {
	x, y := int64(grid[0]), int64(grid[1])
	return [3]int{int(n % x), int(n / x % y), int(n / x / y)}
}

// advance moves index to the next block.
func advance(index *[3]int, grid [3]int) {
	if index[0]++; index[0] < grid[0] {
		return
	}
	index[0] = 0
	if index[1]++; index[1] == grid[1] {
		index[1] = 0
		index[2]++
	}
}
