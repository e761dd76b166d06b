//go:build !linux || !amd64

package dl

import "runtime"

// run makes the frame's calls.
func (f *frame) run() {
	if f.before.Function != 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if f.result = uintptr(uint32(syscallN(f.before.Function, []uintptr{f.before.Argument}))); f.result != 0 {
			return
		}
	}
	f.result = syscallN(f.function, f.args[:f.n])
}
