//go:build linux || darwin

package cpu

import (
	"math"
	"runtime"
	"runtime/metrics"

	"golang.org/x/sys/unix"
)

// resourceLimit returns the memory in bytes that the process's resource limits allow, 0 if they do
// not limit it.
func resourceLimit() (limit int64) {
	for _, resource := range []int{unix.RLIMIT_AS, unix.RLIMIT_DATA} {
		var r unix.Rlimit
		if unix.Getrlimit(resource, &r) == nil && r.Cur <= math.MaxInt64 { // higher values mean no limit
			limit = least(limit, int64(r.Cur))
		}
	}
	return limit
}

const (
	probedBytes = 1 << 20  // allocations of at least this size are probed, which takes a microsecond
	arenaBytes  = 64 << 20 // the step in which Go's heap grows
)

// available reports whether Go's heap can grow by size bytes. If the heap could not grow, make
// would end the program, so available asks the system first. Before it returns false, it lets the
// garbage collector reclaim freed memory.
func available(size int) bool {
	if size < probedBytes || mappable(size+arenaBytes) {
		return true
	}
	runtime.GC()
	idle := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(idle)
	return idle[0].Value.Uint64()+idle[1].Value.Uint64() >= uint64(size+arenaBytes)
}

// mappable reports whether the system would map n more bytes.
func mappable(n int) bool {
	p, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false
	}
	return unix.Munmap(p) == nil
}
