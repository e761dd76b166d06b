package gpu

import "unsafe"

// FetchBulk starts to copy src, in global memory, to dst, in shared memory (PTX: cp.async.bulk;
// requires compute capability 9.0). One thread calls it. When the copy completes, its bytes arrive
// at bar, which must expect them (Barrier.Expect). Both slices must have the same length and start
// at multiples of 16 bytes; their size must be a positive multiple of 16 bytes and less than 1 MiB.
// Otherwise the thread faults.
//
//	if t.ThreadX() == 0 {
//		full.Expect(t, 4*len(row))
//		gpu.FetchBulk(t, row[:], x[i:i+len(row)], full)
//	}
//	full.Wait(t, 0)
//
// Threads that have accessed dst must synchronize first, as TensorMap.Fetch describes.
func FetchBulk[T any](t Thread, dst, src []T, bar *Barrier) {
	checkBulk("FetchBulk", dst, src)
	copy(dst, src)
	t.block.Complete(&bar.word, len(src)*int(unsafe.Sizeof(src[0])))
}

// StoreBulk starts to copy src, in shared memory, to dst, in global memory. Both slices must meet
// the requirements of FetchBulk. Threads that have written to src must call FenceAsync before they
// synchronize with the thread that calls StoreBulk. To wait for the copy, call CommitStores and
// then WaitStores.
func StoreBulk[T any](t Thread, dst, src []T) {
	checkBulk("StoreBulk", dst, src)
	copy(dst, src)
}

func checkBulk[T any](name string, dst, src []T) {
	if len(dst) != len(src) {
		panic("gpu." + name + ": slices have different lengths")
	}
	var zero T
	n := len(src) * int(unsafe.Sizeof(zero))
	address := func(s []T) int { return int(uintptr(unsafe.Pointer(unsafe.SliceData(s)))) }
	if (address(dst)|address(src)|n)&15 != 0 || n < 1 || n >= 1<<20 {
		panic("gpu." + name + ": address or size is not a multiple of 16 bytes, or size is 1 MiB or more")
	}
}
