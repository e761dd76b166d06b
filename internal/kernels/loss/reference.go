package loss

import "math"

// Reference returns the loss of a row with a label in float64, and the derivative.
func Reference(x []float64, label int) (loss float64, dx []float64) {
	dx = make([]float64, len(x))
	if label < 0 || label >= len(x) {
		return 0, dx
	}
	top, sum := math.Inf(-1), 0.0
	for _, v := range x {
		top = math.Max(top, v)
	}
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	for i, v := range x {
		dx[i] = math.Exp(v-top) / sum
	}
	dx[label]--
	return top + math.Log(sum) - x[label], dx
}
