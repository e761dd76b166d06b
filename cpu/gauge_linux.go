package cpu

import (
	"io/fs"
	"os"
	"runtime"
	"runtime/metrics"
)

// FreeMemory implements driver.Gauge. The result is what the limit leaves, or what the system and the idle part of Go's heap have if that is
// less. The system counts the cache of files as available.
func (b *backend) FreeMemory() (int64, error) { return b.heap.room(os.DirFS("/")), nil }

// room returns how many bytes can be allocated on a system with the files of root.
func (h *heap) room(root fs.FS) int64 {
	h.mu.RLock()
	used, left := h.used, max(0, h.limit-h.used)
	h.mu.RUnlock()
	system := systemMemory(root, "MemAvailable")
	if system == 0 { // the system does not say
		return left
	}
	objects, idle := goHeap()
	if objects-used > system/garbageShare {
		runtime.GC()
		_, idle = goHeap()
	}
	return min(left, system+idle)
}

// garbageShare determines when room collects garbage: when the objects of Go's heap that are no buffers are more than this share of the
// available memory, because closed buffers may be among them.
const garbageShare = 8

// goHeap returns the bytes of Go's heap that objects occupy, including garbage, and those that the heap keeps for new objects.
func goHeap() (objects, idle int64) {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()), int64(s[1].Value.Uint64())
}
