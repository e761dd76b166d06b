package gpu

import "unsafe"

// CopyAsync starts to copy *src to *dst, and does not wait for the copy. src points into a slice,
// and dst points into shared memory. If the GPU supports asynchronous copies, the copy runs
// concurrently with the code that follows and needs no registers. T has 4, 8 or 16 bytes; the
// thread faults if an address is not a multiple of that size. The calling thread sees the data
// after WaitCopies. The other threads of the block see the data after a subsequent Sync.
//
//	gpu.CopyAsync(t, &tile[next][i], &x[j])
//	t.CommitCopies()
//	... compute with tile[now] ...
//	t.WaitCopies(0)
//	t.Sync()
//
// On the CPU, CopyAsync copies at once.
func CopyAsync[T any](t Thread, dst, src *T) {
	checkAligned("CopyAsync", unsafe.Pointer(dst), unsafe.Sizeof(*dst))
	checkAligned("CopyAsync", unsafe.Pointer(src), unsafe.Sizeof(*dst))
	*dst = *src
}

// CommitCopies forms a group of the copies that the thread has started since its previous call of
// CommitCopies.
func (t Thread) CommitCopies() {}

// WaitCopies waits until all but the n most recent groups of the thread's copies are complete (see
// CommitCopies). n is a constant from 0 to 7.
func (t Thread) WaitCopies(n int) {}
