package streamcopy

import "unsafe"

// pages copies n bytes to dst. n must be a multiple of group, and dst aligned to 16 bytes.
//
//go:noescape
func pages(dst, src *byte, n int)

// group is the number of bytes that pages copies at a time: four pages, interleaved by cache line.
const group = 16 << 10

// Copy copies src to dst, which has the same length.
func Copy(dst, src []byte) {
	if len(dst) != len(src) {
		panic("BUG: streamcopy of different lengths")
	}
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst))) & 63)
	if len(dst) < head+group {
		copy(dst, src)
		return
	}
	copy(dst[:head], src)
	n := (len(dst) - head) &^ (group - 1)
	pages(&dst[head], &src[head], n)
	copy(dst[head+n:], src[head+n:])
}
