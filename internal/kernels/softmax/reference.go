package softmax

import "math"

// Reference returns the softmax of a row in float64, or its logarithm: of the first limit elements, times the scale. The others
// are 0, or negative infinity. It also returns the magnitudes of what each exponential is computed from,
// which bound its error.
func Reference(x []float64, limit int, o Options) (y, size []float64) {
	limit = max(0, min(limit, len(x)))
	y, size = make([]float64, len(x)), make([]float64, len(x))
	top, sum := math.Inf(-1), 0.0
	for _, v := range x[:limit] {
		top = math.Max(top, v*float64(o.Scale))
	}
	if math.IsInf(top, -1) {
		limit = 0
	}
	for _, v := range x[:limit] {
		sum += math.Exp(v*float64(o.Scale) - top)
	}
	for i := range x {
		switch d := x[i]*float64(o.Scale) - top; {
		case i < limit && o.Log:
			y[i], size[i] = d-math.Log(sum), math.Abs(x[i]*float64(o.Scale))+math.Abs(top)
		case i < limit:
			y[i], size[i] = math.Exp(d)/sum, math.Abs(x[i]*float64(o.Scale))+math.Abs(top)
		case o.Log:
			y[i] = math.Inf(-1)
		}
	}
	return y, size
}
