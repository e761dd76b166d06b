package matvec

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// product returns the products of the rows of w and x in float64.
func product(shape Shape, w []dtype.BF16, x []float64) []float64 {
	y := make([]float64, shape.Rows)
	for r := range y {
		for i, v := range w[r*shape.Columns : (r+1)*shape.Columns] {
			y[r] += v.Float64() * x[i]
		}
	}
	return y
}

// normed returns x divided by its root mean square and multiplied by gain, rounded to bfloat16 as the kernels do.
func normed(x []float32, gain []dtype.BF16, epsilon float64) []float64 {
	sum, out := 0.0, make([]float64, len(x))
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	scale := 1 / math.Sqrt(sum/float64(len(x))+epsilon)
	for i, v := range x {
		out[i] = dtype.BF16From64(float64(v) * scale * gain[i].Float64()).Float64()
	}
	return out
}

// swiGLU returns SwiGLU of the first and the second half of y.
func swiGLU(y []float64) []float64 {
	half := len(y) / 2
	out := make([]float64, half)
	for i, gate := range y[:half] {
		out[i] = gate / (1 + math.Exp(-gate)) * y[half+i]
	}
	return out
}

// turned returns the heads of y after the rotation of their pairs by angles: cosines, then sines.
func turned(y []float64, angles []float32) []float64 {
	out, half := make([]float64, len(y)), len(angles)/2
	for h := 0; h < len(y); h += 2 * half {
		for i := range half {
			a, b, cos, sin := y[h+i], y[h+i+half], float64(angles[i]), float64(angles[half+i])
			out[h+i], out[h+i+half] = a*cos-b*sin, b*cos+a*sin
		}
	}
	return out
}
