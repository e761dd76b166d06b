package activation

import "math"

// Reference returns the function of x in float64.
func (f Function) Reference(x float64) float64 {
	switch f {
	case SiLU:
		return x / (1 + math.Exp(-x))
	case GELU:
		return 0.5 * x * math.Erfc(-x/math.Sqrt2)
	case GELUTanh:
		return x / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	case ReLU:
		return math.Max(x, 0)
	case Sigmoid:
		return 1 / (1 + math.Exp(-x))
	}
	return math.Tanh(x)
}
