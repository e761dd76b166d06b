package simt

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// Halt ends the threads of a launch that wait in memory, with atomic operations, for values that
// other threads write: after a fault, a thread that should write them may have ended. Each thread
// is a goroutine. A tier of package cpu calls Begin and End around the launch, and Enter and the
// function that it returns on each thread's goroutine.
type Halt struct{ stopped atomic.Bool }

// Halted is the value with which such a thread panics. The thread itself did not fault.
type Halted struct{}

// halts holds the waiting threads of the whole process. It is global because an atomic operation is
// an ordinary function, whose arguments do not identify the launch.
var halts struct {
	launches atomic.Int32 // launches that have begun
	stopped  atomic.Int32 // those of them that were stopped
	threads  sync.Map     // *Halt by goroutine number
}

// Begin prepares h for a launch.
func (h *Halt) Begin() { halts.launches.Add(1) }

// End ends the launch.
func (h *Halt) End() {
	halts.launches.Add(-1)
	if h.stopped.Swap(false) {
		halts.stopped.Add(-1)
	}
}

// Enter registers the calling goroutine as a thread of the launch, until it calls leave.
func (h *Halt) Enter() (leave func()) {
	n := goroutine() // takes some microseconds
	halts.threads.Store(n, h)
	return func() { halts.threads.Delete(n) }
}

// Stop ends all threads of the launch that call Pause.
func (h *Halt) Stop() {
	if !h.stopped.Swap(true) {
		halts.stopped.Add(1)
	}
}

// Pause is called by the operations with which a thread can wait. It lets other goroutines run. If
// the launch of the calling thread was stopped, it panics with Halted.
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

// goroutine returns the number of the calling goroutine, which is at the start of its stack trace.
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
