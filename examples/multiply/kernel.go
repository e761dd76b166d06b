package main

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool kernelgen .

// multiply stores the element-wise product of a and b in c.
//
//gpu:kernel
func multiply(t gpu.Thread, a, b, c []float32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i] * b[i]
	}
}

// multiplyLoop is multiply in plain Go.
func multiplyLoop(a, b, c []float32) {
	for i := range c {
		c[i] = a[i] * b[i]
	}
}
