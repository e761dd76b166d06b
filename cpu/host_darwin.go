package cpu

import (
	"runtime"
	"syscall"
)

// host returns the processor's name and the bytes of memory that the process may use, 0 where that is not known.
func host() (name string, memory int64) {
	name, err := syscall.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		name = runtime.GOARCH + " processor"
	}
	// Sysctl takes the number's bytes, little-endian, for a string and drops a zero at its end.
	size, _ := syscall.Sysctl("hw.memsize")
	for i := range min(len(size), 8) {
		memory |= int64(size[i]) << (8 * i)
	}
	return name, least(memory, resourceLimit())
}
