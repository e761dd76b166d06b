package dl

import (
	"fmt"
	"sync"
)

// MaxArgs is the maximum number of arguments of a call.
const MaxArgs = 24

// MaxFloats is the maximum number of floating-point arguments of a call.
const MaxFloats = 2

// Frame holds a call: a call to make first, a function, the first N of its arguments, its
// floating-point arguments, and its result. It must be on the heap, because C may call back into
// Go, which may move the stack. Code that calls often reuses one Frame; only one goroutine at a
// time may use it.
type Frame struct {
	Before   Before
	Function uintptr
	N        int
	Args     [MaxArgs]uintptr
	Floats   [MaxFloats]uint64 // the bits of a float64, or those of a float32 in the lower half
	Result   uintptr
}

// Call makes the calls, like CallAfter.
func (f *Frame) Call() uintptr {
	f.run()
	return f.Result
}

// frames is a pool for Call and CallAfter, which must not allocate.
var frames = sync.Pool{New: func() any { return new(Frame) }}

// Call calls the C function at address, which takes integers and pointers, and returns its result. It does
// not allocate. It blocks the calling thread until the function returns.
//
// Lifetimes: an argument may be the address of Go memory only if that memory is on the heap (a stack moves)
// and the caller keeps it alive until Call returns, with runtime.KeepAlive. If C keeps the address, the caller
// must keep the memory alive for as long. The pragma that would do both costs an allocation for the argument
// list.
//
// Threads: the function runs on the thread of the calling goroutine. To make two calls on one thread, lock the
// goroutine to its thread, or use CallAfter.
func Call(address uintptr, args ...uintptr) uintptr { return CallAfter(Before{}, address, args...) }

// Before is a call of a C function with one argument that returns an int, which is 0 for success.
// The zero value means no call.
type Before struct{ Function, Argument uintptr }

// CallAfter makes the call before and then, on the same thread and without returning to Go, calls
// the function at address. If the first call does not return 0, CallAfter returns its result and
// does not make the second.
func CallAfter(before Before, address uintptr, args ...uintptr) uintptr {
	if len(args) > MaxArgs {
		panic(fmt.Sprintf("BUG: a C call with %d arguments, at most %d are possible", len(args), MaxArgs))
	}
	f := frames.Get().(*Frame)
	f.Before, f.Function = before, address
	f.N = copy(f.Args[:], args)
	r := f.Call()
	frames.Put(f)
	return r
}

// MaxBeforeFloats is the maximum number of arguments of a function of CallFloats, besides the
// floating-point ones.
const MaxBeforeFloats = 6

// CallFloats is CallAfter for a function whose last arguments are floating-point numbers; floats is
// the number of these. args contains their bits, those of a float32 in the lower half.
func CallFloats(before Before, address uintptr, floats int, args ...uintptr) uintptr {
	n := len(args) - floats
	if floats > MaxFloats || n > MaxBeforeFloats {
		panic(fmt.Sprintf("BUG: a C call with %d arguments and %d floating-point ones, at most %d and %d are possible", n, floats, MaxBeforeFloats, MaxFloats))
	}
	f := frames.Get().(*Frame)
	f.Before, f.Function = before, address
	f.N = copy(f.Args[:], args[:n])
	for i, bits := range args[n:] {
		f.Floats[i] = uint64(bits)
	}
	f.runFloats(floats)
	r := f.Result
	frames.Put(f)
	return r
}
