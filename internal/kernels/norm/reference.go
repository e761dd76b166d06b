package norm

import "math"

// Reference is a norm of rows in float64.
type Reference struct {
	Weight, Bias []float32 // Bias may be nil
	Epsilon      float64
	Centred      bool // LayerNorm
}

// Row returns the norm of a row. It also returns the magnitudes of the terms of each element, which bound the errors of float32.
func (r Reference) Row(x []float64) (y, size []float64) {
	var mean, squares float64
	if r.Centred {
		for _, v := range x {
			mean += v / float64(len(x))
		}
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	factor := 1 / math.Sqrt(squares/float64(len(x))+r.Epsilon)
	y, size = make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		w, b := float64(r.Weight[i]), 0.0
		if r.Bias != nil {
			b = float64(r.Bias[i])
		}
		y[i] = (v-mean)*factor*w + b
		size[i] = (math.Abs(v)+math.Abs(mean))*factor*math.Abs(w) + math.Abs(b)
	}
	return y, size
}
