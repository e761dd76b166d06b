package rope

import "math"

// Reference rotates a head in float64, by the angles of a position: products in float32 of the position and the frequencies. It
// also returns the magnitudes of the terms of each element, which bound the errors of float32.
func Reference(head []float64, position int32, frequencies []float32) (y, size []float64) {
	half := len(frequencies)
	y, size = append([]float64(nil), head...), make([]float64, len(head))
	for i, f := range frequencies {
		sin, cos := math.Sincos(float64(float32(position) * f))
		a, b := head[i], head[i+half]
		y[i], y[i+half] = a*cos-b*sin, b*cos+a*sin
		size[i], size[i+half] = math.Abs(a)+math.Abs(b), math.Abs(a)+math.Abs(b)
	}
	return y, size
}
