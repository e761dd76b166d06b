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

// Gradient is what a row contributes to the derivatives of a loss: those with respect to the row, the weights and the biases.
type Gradient struct{ X, Weight, Bias []float64 }

// Back returns the derivatives of the norm of a row, given those with respect to its result. It also returns the magnitudes of their terms.
func (r Reference) Back(x, dy []float64) (g, size Gradient) {
	n := float64(len(x))
	var mean, squares, products, sum, magnitude float64
	if r.Centred {
		for _, v := range x {
			mean += v / n
		}
	}
	for i, v := range x {
		d, p := v-mean, dy[i]*float64(r.Weight[i])
		squares, products, sum, magnitude = squares+d*d, products+p*d, sum+p, magnitude+math.Abs(p)*(math.Abs(v)+math.Abs(mean))
	}
	if !r.Centred {
		sum = 0
	}
	f := 1 / math.Sqrt(squares/n+r.Epsilon)
	for i, v := range x {
		d, p := v-mean, dy[i]*float64(r.Weight[i])
		g.X = append(g.X, f*p-f*f*f*products/n*d-f*sum/n)
		size.X = append(size.X, f*math.Abs(p)+f*f*f*magnitude/n*(math.Abs(v)+math.Abs(mean))+f*math.Abs(sum)/n)
		g.Weight, g.Bias = append(g.Weight, dy[i]*d*f), append(g.Bias, dy[i])
		size.Weight, size.Bias = append(size.Weight, math.Abs(dy[i])*(math.Abs(v)+math.Abs(mean))*f), append(size.Bias, math.Abs(dy[i]))
	}
	return g, size
}
