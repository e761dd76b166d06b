package seeded

import "github.com/gopherwarp/gopherwarp/gpu"

// last stores the sum of x in sums[0]: the block that comes last adds what the others left.
//
//gpu:kernel
//gpu:block 32
func last(t gpu.Thread, x, sums []float32, done []uint32) {
	v := gpu.WarpReduceAdd(t, x[t.GlobalX()])
	if t.ThreadX() > 0 {
		return
	}
	sums[t.BlockX()] = v
	if gpu.AtomicAdd(&done[0], 1, gpu.AcquireRelease) == uint32(t.GridDimX()-1) {
		for i := 1; i < t.GridDimX(); i++ {
			v = sums[0] + sums[i]
			sums[0] = v
		}
	}
}

// lastUnfenced does not order its sums and the count.
//
//gpu:kernel
//gpu:block 32
func lastUnfenced(t gpu.Thread, x, sums []float32, done []uint32) {
	v := gpu.WarpReduceAdd(t, x[t.GlobalX()])
	if t.ThreadX() > 0 {
		return
	}
	sums[t.BlockX()] = v // here: partial
	if gpu.AtomicAdd(&done[0], 1) == uint32(t.GridDimX()-1) {
		for i := 1; i < t.GridDimX(); i++ {
			v = sums[0] + sums[i] // want "data race: write at {partial} .* atomics and fences in between, read at {} .* of sums\["
			sums[0] = v           // want "data race: write at {partial} .* write at {} .* of sums\[0\]"
		}
	}
}

// found stores whether x has a number above the limit. All threads that store, store the same
// value.
//
//gpu:kernel
//gpu:block 32
func found(t gpu.Thread, x, answer []float32, limit float32) {
	if x[t.GlobalX()] > limit {
		answer[0] = 1
	}
}

// where stores the place of a number above the limit: of which one, nobody knows.
//
//gpu:kernel
//gpu:block 32
func where(t gpu.Thread, x []float32, answer []int, limit float32) {
	if x[t.GlobalX()] > limit {
		answer[0] = t.GlobalX() // want "data race: write at {} .* write at {} .* of answer\[0\]"
	}
}

// count counts the numbers above the limit.
//
//gpu:kernel
//gpu:block 32
func count(t gpu.Thread, x []float32, answer []uint32, limit float32) {
	if x[t.GlobalX()] > limit {
		gpu.AtomicAdd(&answer[0], 1)
	}
}

// countPlainly adds as if alone.
//
//gpu:kernel
//gpu:block 32
func countPlainly(t gpu.Thread, x []float32, answer []uint32, limit float32) {
	if x[t.GlobalX()] > limit {
		answer[0]++ // want "read at {} .* write at {} " "write at {} .* write at {} .* of answer\[0\]"
	}
}
