package main

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool kernelgen .

// past stores x[i+far] in out[i], for each i.
//
//gpu:kernel
func past(t gpu.Thread, x, out []float32, far int) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = x[i+far]
	}
}

// sum stores the sum of each block's elements of x. It lacks a barrier in the loop.
//
//gpu:kernel
//gpu:block 256
func sum(t gpu.Thread, x, sums []float32) {
	s := gpu.Shared[[256]float32](t)
	me := t.ThreadX()
	s[me] = x[t.GlobalX()]
	t.Sync()
	for half := 128; half > 0; half /= 2 {
		if me < half {
			s[me] += s[me+half]
		}
	}
	if me == 0 {
		sums[t.BlockX()] = s[0]
	}
}
