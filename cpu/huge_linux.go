package cpu

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the page size that hugePages requests.
const hugePage = 2 << 20

// hugePages requests large pages for p, which is newly allocated, as other array libraries do. On
// systems that grant large pages only on request, Go's runtime requests none; a core that streams
// through p then spends much of its time on address translation. The request is advice: the system
// may ignore it.
func hugePages(p []byte) {
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(p)))) & (hugePage - 1)
	if n := (len(p) - skip) &^ (hugePage - 1); n > 0 {
		_ = unix.Madvise(p[skip:skip+n], unix.MADV_HUGEPAGE)
	}
}
