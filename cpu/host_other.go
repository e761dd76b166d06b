//go:build !linux && !darwin

package cpu

import "runtime"

// host returns the processor's name, and the bytes of memory that the process may use, 0 if that is
// unknown.
func host() (name string, memory int64) { return runtime.GOARCH + " processor", 0 }
