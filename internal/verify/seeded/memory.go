package seeded

import "github.com/gopherwarp/gopherwarp/gpu"

// difference stores the difference of each element and the one before it in its block; the first has
// none before it.
//
//gpu:kernel
//gpu:block 64
func difference(t gpu.Thread, x, out []float32) {
	s := gpu.Shared[[width]float32](t)
	me := t.ThreadX()
	s[me] = x[me]
	t.Sync()
	if me > 0 {
		out[me] = s[me] - s[me-1]
	}
}

// differencePast takes the next element, which the last thread does not have, and nobody fills.
//
//gpu:kernel
//gpu:block 64
func differencePast(t gpu.Thread, x, out []float32) {
	s := gpu.Shared[[width + 1]float32](t)
	me := t.ThreadX()
	s[me] = x[me]
	t.Sync()
	out[me] = s[me+1] - s[me] // want "memory was never written: 4 bytes, byte 256 of shared memory"
}

// total adds every element to sums[0]; nobody cleared the counts in shared memory.
//
//gpu:kernel
//gpu:block 64
func total(t gpu.Thread, x, sums []int32) {
	count := gpu.Shared[int32](t)
	gpu.AtomicAdd(count, x[t.ThreadX()]) // want "memory was never written: 4 bytes, byte 0 of shared memory"
	t.Sync()
	if t.ThreadX() == 0 {
		sums[0] = *count
	}
}

// shift stores in each element the next one, and goes one too far.
//
//gpu:kernel
//gpu:block 64
func shift(t gpu.Thread, x, out []float32) {
	i := t.ThreadX()
	out[i] = x[i+1] // want "index out of range \[64\] with length 64 .*thread 63,0,0"
}

// double doubles elements. Its mistake is the caller's: a buffer that was closed.
//
//gpu:kernel
//gpu:block 64
func double(t gpu.Thread, x []float32) {
	x[t.ThreadX()] *= 2 // want "memory was freed"
}

// fresh reads a buffer that nobody has written.
//
//gpu:kernel
//gpu:block 64
func fresh(t gpu.Thread, x, out []float32) {
	out[t.ThreadX()] = x[t.ThreadX()] // want "memory was never written: 4 bytes, x\[0\] .*64 times"
}

// fetch copies through shared memory.
//
//gpu:kernel
//gpu:block 64
func fetch(t gpu.Thread, x, out []float32) {
	s := gpu.Shared[[width]float32](t)
	me := t.ThreadX()
	gpu.CopyAsync(t, &s[me], &x[me])
	t.CommitCopies()
	t.WaitCopies(0)
	out[me] = s[me]
}

// fetchUnawaited does not wait for its copies.
//
//gpu:kernel
//gpu:block 64
func fetchUnawaited(t gpu.Thread, x, out []float32) {
	s := gpu.Shared[[width]float32](t)
	me := t.ThreadX()
	gpu.CopyAsync(t, &s[me], &x[me])
	t.CommitCopies()
	out[me] = s[me] // want "memory was never written"
	t.WaitCopies(0)
}

// fetchFour copies four elements at a time.
//
//gpu:kernel
//gpu:block 16
func fetchFour(t gpu.Thread, x, out []float32) {
	s := gpu.Shared[[width]float32](t)
	me := 4 * t.ThreadX()
	gpu.CopyAsync(t, (*[4]float32)(s[me:]), (*[4]float32)(x[me:]))
	t.CommitCopies()
	t.WaitCopies(0)
	out[me] = s[me]
}

// fetchFourShifted copies them from where no 16 bytes begin.
//
//gpu:kernel
//gpu:block 16
func fetchFourShifted(t gpu.Thread, x, out []float32) {
	s := gpu.Shared[[width]float32](t)
	me := 4 * t.ThreadX()
	gpu.CopyAsync(t, (*[4]float32)(s[me:]), (*[4]float32)(x[me+1:])) // want "gpu.CopyAsync: address is not a multiple of the size"
	t.CommitCopies()
	t.WaitCopies(0)
	out[me] = s[me]
}
