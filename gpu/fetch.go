package gpu

import "unsafe"

// FetchAsync copies src[i] to *dst as CopyAsync does. If i is out of range, FetchAsync stores zeros
// in *dst, and the thread does not fault. FetchAsync requires compute capability 8.0.
func FetchAsync[T any](t Thread, dst *T, src []T, i int) {
	checkAligned("FetchAsync", unsafe.Pointer(dst), unsafe.Sizeof(*dst))
	if uint(i) < uint(len(src)) {
		checkAligned("FetchAsync", unsafe.Pointer(&src[i]), unsafe.Sizeof(*dst))
		*dst = src[i]
		return
	}
	var zero T
	*dst = zero
}
