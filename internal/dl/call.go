package dl

import (
	"fmt"
	"sync"
)

// MaxArgs is the largest number of arguments that a call takes.
const MaxArgs = 24

// frame is the memory of a call. It comes from a pool, because C may call back into Go, whose stack
// moves then, and a call must not allocate.
type frame struct {
	before   Before
	function uintptr
	n        int
	args     [MaxArgs]uintptr
	result   uintptr
}

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
// on one thread locks the goroutine to it, or uses CallAfter.
func Call(address uintptr, args ...uintptr) uintptr { return CallAfter(Before{}, address, args...) }

// Before is a call of a C function of one argument that returns an int, 0 for success. The zero
// value is none.
type Before struct{ Function, Argument uintptr }

// CallAfter makes the call of before and then, on the same thread and without a return to Go in
// between, that of the function at address. Where the first does not return 0, that is the result
// and there is no second.
func CallAfter(before Before, address uintptr, args ...uintptr) uintptr {
	if len(args) > MaxArgs {
		panic(fmt.Sprintf("BUG: a C call with %d arguments, at most %d are possible", len(args), MaxArgs))
	}
	f := frames.Get().(*frame)
	f.before, f.function = before, address
	f.n = copy(f.args[:], args)
	f.run()
	r := f.result
	frames.Put(f)
	return r
}
