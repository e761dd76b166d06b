package pooling

import "math"

// Reference reduces the rows of a sequence, of the given number of columns, in float64.
func Reference(m Method, unit bool, columns int, rows []float64) []float64 {
	y := make([]float64, columns)
	if len(rows) == 0 {
		return y
	}
	copy(y, rows[:columns])
	for i, v := range rows[columns:] {
		switch c := i % columns; m {
		case Mean:
			y[c] += v
		case Max:
			y[c] = math.Max(y[c], v)
		}
	}
	var squares float64
	for c := range y {
		if m == Mean {
			y[c] /= float64(len(rows) / columns)
		}
		squares += y[c] * y[c]
	}
	if unit {
		for c := range y {
			y[c] /= math.Max(math.Sqrt(squares), 1e-12)
		}
	}
	return y
}
