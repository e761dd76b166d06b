package main

import "github.com/gopherwarp/gopherwarp/gpu"

//go:generate go tool kernelgen .

// view is the part of the complex plane that a picture shows: pixel x, y is the point with real
// part left + x*step and imaginary part top - y*step.
type view struct {
	left, top, step float64
	width, height   int
}

// limit is the number of steps after which a point counts as part of the set. far is the squared
// distance from zero beyond which a point has escaped; a large value makes the colors smooth.
const (
	limit = 1000
	far   = 1 << 16
)

// mandelbrot stores the number of steps and the last |z| squared of each pixel of v, in row-major
// order.
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

// follow repeats z = z*z + c, where c = re + im*i and z starts at zero, until the squared distance
// of z from zero exceeds far or limit steps are done. It returns the number of steps and |z|
// squared.
func follow(re, im float64) (steps int32, norm float32) {
	var x, y float64
	for steps < limit && x*x+y*y < far {
		x, y = x*x-y*y+re, 2*x*y+im
		steps++
	}
	return steps, float32(x*x + y*y)
}

// mandelbrotLoop is mandelbrot in plain Go.
func mandelbrotLoop(steps []int32, norm []float32, v view) {
	for y := range v.height {
		for x := range v.width {
			i := y*v.width + x
			steps[i], norm[i] = follow(v.left+float64(x)*v.step, v.top-float64(y)*v.step)
		}
	}
}
