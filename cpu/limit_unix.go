//go:build linux || darwin

package cpu

import (
	"math"
	"runtime"
	"runtime/metrics"

	"golang.org/x/sys/unix"
)

// resourceLimit returns the memory in bytes that the process's resource limits allow it, 0 where they do not
// limit it.
func resourceLimit() (limit int64) {
	for _, resource := range []int{unix.RLIMIT_AS, unix.RLIMIT_DATA} {
		var r unix.Rlimit
		if unix.Getrlimit(resource, &r) == nil && r.Cur <= math.MaxInt64 { // above that is none
			limit = least(limit, int64(r.Cur))
		}
	}
	return limit
}

const (
	probedBytes = 1 << 20  // the size from which it is worth a microsecond to ask first
	arenaBytes  = 64 << 20 // the step in which Go's heap grows
)

// available reports whether Go's heap can grow by size bytes. Where it cannot, make ends the program: so the
// system is asked first. Memory that was freed is collected before the answer is no.
func available(size int) bool {
	if size < probedBytes || mappable(size+arenaBytes) {
		return true
	}
	runtime.GC()
	idle := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(idle)
	return idle[0].Value.Uint64()+idle[1].Value.Uint64() >= uint64(size+arenaBytes)
}

// mappable reports whether the system would map n bytes more.
func mappable(n int) bool {
	p, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false
	}
	return unix.Munmap(p) == nil
}
