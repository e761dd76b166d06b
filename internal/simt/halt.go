package simt

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// Halt lets the threads of a launch leave the kernel that wait in memory, by atomic operations, for
// what other threads write: one of those may have faulted. Each thread is a goroutine then. A tier
// calls Begin and End around the launch, and Enter and what it returns on each thread's goroutine.
type Halt struct{ stopped atomic.Bool }

// Halted is what a thread panics with that leaves so. It has done nothing wrong itself.
type Halted struct{}

// halts is who waits in the whole process: an atomic operation is a plain function, and what it is
// called with tells nothing about the launch.
var halts struct {
	launches atomic.Int32 // that have begun
	stopped  atomic.Int32 // those of them that have been stopped
	threads  sync.Map     // *Halt by the number of the goroutine
}

// Begin readies h for a launch.
func (h *Halt) Begin() { halts.launches.Add(1) }

// End ends the launch.
func (h *Halt) End() {
	halts.launches.Add(-1)
	if h.stopped.Swap(false) {
		halts.stopped.Add(-1)
	}
}

// Enter says that the calling goroutine is a thread of the launch, until it calls leave.
func (h *Halt) Enter() (leave func()) {
	n := goroutine() // which takes some microseconds
	halts.threads.Store(n, h)
	return func() { halts.threads.Delete(n) }
}

// Stop makes all threads of the launch leave that come to Pause.
func (h *Halt) Stop() {
	if !h.stopped.Swap(true) {
		halts.stopped.Add(1)
	}
}

// Pause is called by the operations that a thread can wait with. It lets other threads go on; in a
// launch that has been stopped it panics with Halted.
func Pause() {
	if halts.launches.Load() > 0 {
		pause()
	}
}

func pause() {
	runtime.Gosched()
	if halts.stopped.Load() == 0 {
		return
	}
	if h, ok := halts.threads.Load(goroutine()); ok && h.(*Halt).stopped.Load() {
		panic(Halted{})
	}
}

// goroutine returns the number of the calling goroutine, which its stack trace begins with.
func goroutine() uint64 {
	var buf [64]byte
	text := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		panic("BUG: simt: a stack trace begins with " + string(buf[:]))
	}
	return n
}
