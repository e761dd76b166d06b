package gpu

import "unsafe"

// FetchBulk starts to copy src, in global memory, to dst, in shared memory, and tells bar when its bytes have come
// (PTX: cp.async.bulk; from compute capability 9.0 on). One thread calls it for all; bar expects the bytes by
// Expect. Both slices have the same length and start at multiples of 16 bytes, and what is copied is a multiple of that below
// 1 MiB; the thread faults otherwise.
//
//	if t.ThreadX() == 0 {
//		full.Expect(t, 4*len(row))
//		gpu.FetchBulk(t, row[:], x[i:i+len(row)], full)
//	}
//	full.Wait(t, 0)
//
// What other threads read or wrote in dst before must be done, and ordered, as TensorMap.Fetch has it.
func FetchBulk[T any](t Thread, dst, src []T, bar *Barrier) {
	checkBulk("FetchBulk", dst, src)
	copy(dst, src)
	t.block.Complete(&bar.word, len(src)*int(unsafe.Sizeof(src[0])))
}

// StoreBulk starts to copy src, in shared memory, to dst, in global memory, with FetchBulk's conditions. Threads that wrote to
// src call FenceAsync before they tell the one that calls it. The copy belongs to the group that the
// thread's next CommitStores makes.
func StoreBulk[T any](t Thread, dst, src []T) {
	checkBulk("StoreBulk", dst, src)
	copy(dst, src)
}

func checkBulk[T any](name string, dst, src []T) {
	if len(dst) != len(src) {
		panic("gpu." + name + ": slices of different lengths")
	}
	var zero T
	n := len(src) * int(unsafe.Sizeof(zero))
	address := func(s []T) int { return int(uintptr(unsafe.Pointer(unsafe.SliceData(s)))) }
	if (address(dst)|address(src)|n)&15 != 0 || n < 1 || n >= 1<<20 {
		panic("gpu." + name + ": addresses and a size that are not multiples of 16 bytes, or a size that is not below 1 MiB")
	}
}
