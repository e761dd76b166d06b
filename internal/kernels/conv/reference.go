package conv

import "math"

// Numbers are the operands of Reference: see Operands.
type Numbers struct{ X, Weights, Bias, Residual []float64 }

// Reference computes a convolution in float64.
func Reference(s Shape, a Activation, o Numbers) []float64 {
	h, w := s.Places()
	y := make([]float64, s.rows()*s.filters())
	for i := range y {
		f, at := i%s.filters(), i/s.filters()
		image, down, across := at/(h*w), at/w%h, at%w
		sum := 0.0
		if len(o.Bias) > 0 {
			sum = o.Bias[f]
		}
		for tap := range s.Kernel * s.Kernel {
			row, column := down*s.Stride+tap/s.Kernel-s.Before, across*s.Stride+tap%s.Kernel-s.Before
			if row < 0 || row >= s.Height || column < 0 || column >= s.Width {
				continue
			}
			from := o.X[((image*s.Height+row)*s.Width+column)*s.Channels:][:s.Channels]
			if s.Depthwise {
				sum += from[f] * o.Weights[tap*s.Channels+f]
				continue
			}
			for c, v := range from {
				sum += v * o.Weights[(f*s.Kernel*s.Kernel+tap)*s.Channels+c]
			}
		}
		if len(o.Residual) > 0 {
			sum += o.Residual[i]
		}
		y[i] = referenceActivation(sum, a)
	}
	return y
}

func referenceActivation(x float64, a Activation) float64 {
	switch a {
	case ReLU:
		return max(x, 0)
	case ReLU6:
		return min(max(x, 0), 6)
	case SiLU:
		return x / (1 + math.Exp(-x))
	}
	return x
}
