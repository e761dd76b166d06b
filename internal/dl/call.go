package dl

import (
	"fmt"
	"sync"
)

// MaxArgs is the largest number of arguments that a call takes.
const MaxArgs = 24

// MaxFloats is the largest number of floating-point arguments that a call takes.
const MaxFloats = 2

// Frame is the memory of a call: a call before it, a function, the first N of its arguments, its floating-point
// arguments, its result. It is on the heap, because C may call back into Go, whose stack moves then. Who calls often
// keeps one; one goroutine at a time uses it.
type Frame struct {
	Before   Before
	Function uintptr
	N        int
	Args     [MaxArgs]uintptr
	Floats   [MaxFloats]uint64 // float64 by their bits; float32 by theirs in the lower half
	Result   uintptr
}

// Call makes the calls, as CallAfter.
func (f *Frame) Call() uintptr {
	f.run()
	return f.Result
}

// frames are those of Call and CallAfter, which must not allocate.
var frames = sync.Pool{New: func() any { return new(Frame) }}

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
	f := frames.Get().(*Frame)
	f.Before, f.Function = before, address
	f.N = copy(f.Args[:], args)
	r := f.Call()
	frames.Put(f)
	return r
}

// MaxBeforeFloats is how many arguments a function of CallFloats may have beside the floating-point ones.
const MaxBeforeFloats = 6

// CallFloats is CallAfter for a function whose last arguments, as many as floats says, are floating-point
// numbers: args has their bits, those of a float32 in the lower half.
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
