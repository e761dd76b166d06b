//go:build !linux || !amd64

package dl

import "runtime"

// run makes the frame's calls.
func (f *Frame) run() {
	f.after(func() uintptr { return syscallN(f.Function, f.Args[:f.N]) })
}

// runFloats is run for a call whose last floats arguments are floating-point numbers.
func (f *Frame) runFloats(floats int) {
	f.after(func() uintptr { return callFloats(f, floats) })
}

// after makes the call before, and call if the first one succeeds, on the same thread.
func (f *Frame) after(call func() uintptr) {
	if f.Before.Function != 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if f.Result = uintptr(uint32(syscallN(f.Before.Function, []uintptr{f.Before.Argument}))); f.Result != 0 {
			return
		}
	}
	f.Result = call()
}
