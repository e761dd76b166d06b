//go:build !linux || !amd64

package dl

import "runtime"

// run makes the frame's calls.
func (f *Frame) run() {
	if f.Before.Function != 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if f.Result = uintptr(uint32(syscallN(f.Before.Function, []uintptr{f.Before.Argument}))); f.Result != 0 {
			return
		}
	}
	f.Result = syscallN(f.Function, f.Args[:f.N])
}
