package dl

import (
	"fmt"
	"sync"
)

// MaxArgs is the largest number of arguments that Call takes.
const MaxArgs = 24

// frame holds the arguments of one call. It comes from a pool because the argument list of
// syscallN escapes, and a call must not allocate.
type frame [MaxArgs]uintptr

var frames = sync.Pool{New: func() any { return new(frame) }}

// Call calls the C function at address, which takes whole words, and returns its result.
// It does not allocate. It blocks the calling thread as long as the function does.
//
// Lifetimes: an argument may be the address of Go memory only if that memory is on the heap
// (a stack moves) and the caller keeps it alive until Call returns, with runtime.KeepAlive.
// C must not keep the address unless the caller keeps the memory alive for as long. The pragma
// that would do both costs an allocation for the argument list.
//
// Threads: the function runs on the thread of the calling goroutine. Whoever needs two calls
// on one thread locks the goroutine to it.
func Call(address uintptr, args ...uintptr) uintptr {
	if len(args) > MaxArgs {
		panic(fmt.Sprintf("BUG: a C call with %d arguments, at most %d are possible", len(args), MaxArgs))
	}
	f := frames.Get().(*frame)
	r := syscallN(address, f[:copy(f[:], args)])
	frames.Put(f)
	return r
}
