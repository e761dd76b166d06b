package main

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool kernelgen .

// block is the number of threads in a block of partialSums, a power of two.
const block = 256

// partialSums stores in partial, for each block, the sum of the elements of x that its threads
// visit. Thread i of the grid visits the elements i, i+n, i+2n and so on, where n is the number of
// threads in the grid, so that adjacent threads read adjacent elements.
//
//gpu:kernel
//gpu:block 256
func partialSums(t gpu.Thread, x, partial []float32) {
	sums := gpu.Shared[[block]float32](t)
	var sum float32
	for i := t.GlobalX(); i < len(x); i += t.GridDimX() * block {
		sum += x[i]
	}
	me := t.ThreadX()
	sums[me] = sum
	t.Sync()
	for half := block / 2; half > 0; half /= 2 {
		if me < half {
			sums[me] += sums[me+half]
		}
		t.Sync()
	}
	if me == 0 {
		partial[t.BlockX()] = sums[0]
	}
}

// singleSum stores the sum of partial in sum[0]. Its grid has one thread.
//
//gpu:kernel
func singleSum(t gpu.Thread, partial, sum []float32) {
	var total float32
	for _, p := range partial {
		total += p
	}
	sum[0] = total
}

// divide divides every element of x by sum[0].
//
//gpu:kernel
func divide(t gpu.Thread, x, sum []float32) {
	if i := t.GlobalX(); i < len(x) {
		x[i] /= sum[0]
	}
}

// normalizeLoop computes the same in plain Go, with the sum in float64.
func normalizeLoop(x []float32) {
	var sum float64
	for _, v := range x {
		sum += float64(v)
	}
	for i := range x {
		x[i] /= float32(sum)
	}
}
