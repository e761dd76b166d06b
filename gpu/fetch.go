package gpu

import "unsafe"

// FetchAsync is CopyAsync of src[i], or of zeros where i is out of range: it does not fault there.
// It needs compute capability 8.0.
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
