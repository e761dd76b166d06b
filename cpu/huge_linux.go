package cpu

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of the pages that hugePages asks for.
const hugePage = 2 << 20

// hugePages asks for large pages for p, which is fresh, as other libraries for arrays do: where the system has them on request
// alone, Go's collector asks for none. Without them a core that streams through p spends a good part of its time looking up
// addresses. It is advice: where it is not taken, nothing is wrong.
func hugePages(p []byte) {
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(p)))) & (hugePage - 1)
	if n := (len(p) - skip) &^ (hugePage - 1); n > 0 {
		_ = unix.Madvise(p[skip:skip+n], unix.MADV_HUGEPAGE)
	}
}
