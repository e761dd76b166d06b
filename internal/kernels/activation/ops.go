package activation

import (
	"math"

	"github.com/gopherwarp/gopherwarp/math32"
)

// Op is a function of a number.
type Op interface{ Of(x float32) float32 }

// Function is a function that Apply knows.
type Function int32

// The functions. Exponentials and quotients are fast ones on a GPU, with a relative error below 1e-5; results below
// 2^-108 may be 0.
const (
	SiLU     Function = iota // x*sigmoid(x), also called swish
	GELU                     // x times the normal distribution function of x (Hendrycks and Gimpel, "Gaussian Error Linear Units")
	GELUTanh                 // the approximation of GELU by a hyperbolic tangent
	ReLU                     // the greater of x and 0
	Sigmoid                  // 1/(1 + exp(-x))
	Tanh                     // the hyperbolic tangent
)

// of returns the function of x.
func (f Function) of(x float32) float32 {
	switch f {
	case GELU:
		return gelu(x)
	case GELUTanh:
		return geluTanh(x)
	case ReLU:
		return relu(x)
	case Sigmoid:
		return sigmoid(x)
	case Tanh:
		return math32.Tanh(x)
	}
	return silu(x)
}

// silu returns x*sigmoid(x).
func silu(x float32) float32 { return math32.FastDiv(x, 1+math32.FastExp(-x)) }

// gelu returns x times the normal distribution function of x.
func gelu(x float32) float32 {
	a := min(math32.Abs(x), 15) // the exponential is 0 from there on
	return max(x, 0) - a*normal(a)
}

// normal returns the normal distribution function of -a, for a >= 0: exp(-a*a/2) times a function of a which
// is close to a polynomial in 1/(1 + 0.297*a), as in formula 7.1.26 of Abramowitz and Stegun, "Handbook of Mathematical Functions".
// This polynomial has a relative error of 1.4e-6 up to 13, where the result is less than 2**-108.
func normal(a float32) float32 {
	t := math32.FastRcp(1 + 0.297*a)
	p := -0.0880294547233*t + 0.261303133503
	p = ((p*t-0.073129092031)*t+0.178186078834)*t + 0.100986418364
	p = (p*t+0.120809379347)*t - 0.000127119710274
	return p * math32.FastExp2(-0.5*math.Log2E*a*a)
}

// geluSlope returns the derivative of gelu: the normal distribution function of x plus x times its density.
func geluSlope(x float32) float32 {
	a := min(math32.Abs(x), 15)
	below := normal(a)
	if x > 0 {
		below = 1 - below
	}
	return below + x*(1/math.Sqrt2/math.SqrtPi)*math32.FastExp2(-0.5*math.Log2E*a*a)
}

// siluSlope returns the derivative of silu.
func siluSlope(x float32) float32 {
	s := sigmoid(x)
	return s * (1 + x*(1-s))
}

// geluTanh returns the approximation of gelu by a hyperbolic tangent: 0.5(1 + tanh(u)) is sigmoid(2u).
func geluTanh(x float32) float32 {
	const twice = 2 * 0.7978845608028654 // 2 sqrt(2/pi)
	return math32.FastDiv(x, 1+math32.FastExp(-twice*(x+0.044715*x*x*x)))
}

func relu(x float32) float32 { return max(x, 0) }

func sigmoid(x float32) float32 { return math32.FastDiv(1, 1+math32.FastExp(-x)) }

// gated returns silu(gate)*up.
func gated(gate, up float32) float32 { return silu(gate) * up }

// quick returns the function of the elements of a, which is none of those of many instructions.
func quick[A [4]float32 | [8]float32](a A, f Function) A {
	switch f {
	case GELU:
		return each(a, gelu)
	case GELUTanh:
		return each(a, geluTanh)
	case ReLU:
		return each(a, relu)
	case Sigmoid:
		return each(a, sigmoid)
	}
	return each(a, silu)
}

// each returns f of each element.
func each[A [4]float32 | [8]float32](a A, f func(x float32) float32) A {
	for k := range len(a) {
		a[k] = f(a[k])
	}
	return a
}
