package dl

import "unsafe"

// enter is the address of the function of that name in call_linux_amd64.s.
var enter uintptr

// cgocall calls a C function of one argument on the thread's own stack, and tells the scheduler, so
// that other goroutines go on meanwhile. It is there without cgo too, because purego is linked.
//
//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(function uintptr, argument unsafe.Pointer) int32

// run makes the frame's calls. The frame is on the heap: C may call back into Go, and the stack
// move then.
func (f *Frame) run() { cgocall(enter, unsafe.Pointer(f)) }

// runFloats is run for a call with floating-point arguments, which run passes too.
func (f *Frame) runFloats(int) { f.run() }
