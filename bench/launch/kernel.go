package main

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool kernelgen .

// empty0 does nothing.
//
//gpu:kernel
func empty0(t gpu.Thread) {}

// empty1 does nothing with a slice.
//
//gpu:kernel
func empty1(t gpu.Thread, a []float32) {}

// empty4 does nothing with four slices.
//
//gpu:kernel
func empty4(t gpu.Thread, a, b, c, d []float32) {}

// empty16 does nothing with sixteen slices.
//
//gpu:kernel
func empty16(t gpu.Thread, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p []float32) {}

// step is a small piece of work.
//
//gpu:kernel
func step(t gpu.Thread, x []float32) {
	if i := t.GlobalX(); i < len(x) {
		x[i] = x[i]*0.5 + 1
	}
}
