package cpu

import (
	"runtime"
	"syscall"
)

// host returns the processor's name, and the bytes of memory that the process may use, 0 if that is
// unknown.
func host() (name string, memory int64) {
	name, err := syscall.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		name = runtime.GOARCH + " processor"
	}
	// Sysctl treats the little-endian bytes of the number as a string, and drops a zero at the end.
	size, _ := syscall.Sysctl("hw.memsize")
	for i := range min(len(size), 8) {
		memory |= int64(size[i]) << (8 * i)
	}
	return name, least(memory, resourceLimit())
}
