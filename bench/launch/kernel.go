package main

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool kernelgen .

// empty0 does nothing.
//
//gpu:kernel
func empty0(t gpu.Thread) {}

// empty1 has one slice parameter and does nothing.
//
//gpu:kernel
func empty1(t gpu.Thread, a []float32) {}

// empty4 has four slice parameters and does nothing.
//
//gpu:kernel
func empty4(t gpu.Thread, a, b, c, d []float32) {}

// empty16 has sixteen slice parameters and does nothing.
//
//gpu:kernel
func empty16(t gpu.Thread, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p []float32) {}

// step does little work.
//
//gpu:kernel
func step(t gpu.Thread, x []float32) {
	if i := t.GlobalX(); i < len(x) {
		x[i] = x[i]*0.5 + 1
	}
}
