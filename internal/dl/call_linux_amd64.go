package dl

import "unsafe"

// enter is the address of the assembly function enter in call_linux_amd64.s.
var enter uintptr

// cgocall calls a C function with one argument on the thread's own stack. It notifies the
// scheduler, so that other goroutines continue. It also works without cgo, because purego is
// linked.
//
//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(function uintptr, argument unsafe.Pointer) int32

// run makes the frame's calls. The frame is on the heap, because C may call back into Go, which may
// move the stack.
func (f *Frame) run() { cgocall(enter, unsafe.Pointer(f)) }

// runFloats is run for a call with floating-point arguments, which run passes too.
func (f *Frame) runFloats(int) { f.run() }
