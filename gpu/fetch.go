package gpu

import "unsafe"

// FetchAsync is like CopyAsync with &src[i] as the source, except that it stores zeros in *dst, and
// does not fault, if i is out of range. It requires compute capability 8.0.
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
