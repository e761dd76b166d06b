package gpu

import "unsafe"

// CopyAsync starts to copy *src, in a slice, to *dst, in shared memory, and does not wait for it: where the
// GPU can, the copy runs beside what the thread does next, and needs no registers. T has 4, 8 or
// 16 bytes; a thread faults where an address is no multiple of that. The data is there once
// WaitCopies says so; other threads see it after a Sync that follows.
//
//	gpu.CopyAsync(t, &tile[next][i], &x[j])
//	t.CommitCopies()
//	... compute with tile[now] ...
//	t.WaitCopies(0)
//	t.Sync()
//
// On the CPU it is a plain copy.
func CopyAsync[T any](t Thread, dst, src *T) {
	checkAligned("CopyAsync", unsafe.Pointer(dst), unsafe.Sizeof(*dst))
	checkAligned("CopyAsync", unsafe.Pointer(src), unsafe.Sizeof(*dst))
	*dst = *src
}

// CommitCopies makes a group of the copies that the thread has started since it last did.
func (t Thread) CommitCopies() {}

// WaitCopies waits until all the thread's groups of copies are done but the newest ones, of which it
// leaves the given number, a constant from 0 to 7.
func (t Thread) WaitCopies(leave int) {}
