package main

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool kernelgen .

// view says which part of the complex plane a picture shows: pixel x, y stands for the
// point left + x*step, top - y*step.
type view struct {
	left, top, step float64
	width, height   int
}

// limit is the number of steps after which a point counts as one of the set, and far the
// squared distance from zero past which it has left. So large a far makes the colours smooth.
const (
	limit = 1000
	far   = 1 << 16
)

// mandelbrot stores in steps and norm, for each pixel of v, row by row, what follow says
// about it.
//
//gpu:kernel
//gpu:block 16,16
func mandelbrot(t gpu.Thread, steps []int32, norm []float32, v view) {
	x, y := t.GlobalX(), t.GlobalY()
	if x < v.width && y < v.height {
		i := y*v.width + x
		steps[i], norm[i] = follow(v.left+float64(x)*v.step, v.top-float64(y)*v.step)
	}
}

// follow squares z and adds re + im*i, from a z of zero on, until z is far from zero or
// limit steps are done. It returns the number of steps and |z| squared.
func follow(re, im float64) (steps int32, norm float32) {
	var x, y float64
	for steps < limit && x*x+y*y < far {
		x, y = x*x-y*y+re, 2*x*y+im
		steps++
	}
	return steps, float32(x*x + y*y)
}

// mandelbrotLoop does the same as the kernel in plain Go.
func mandelbrotLoop(steps []int32, norm []float32, v view) {
	for y := range v.height {
		for x := range v.width {
			i := y*v.width + x
			steps[i], norm[i] = follow(v.left+float64(x)*v.step, v.top-float64(y)*v.step)
		}
	}
}
