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
		return 0.5 * x * math32.Erfc(-x*(math.Sqrt2/2))
	case Tanh:
		return math32.Tanh(x)
	}
	return f.quick(x)
}

// quick returns the function of x, which is none of those of many instructions.
func (f Function) quick(x float32) float32 {
	switch f {
	case GELUTanh:
		const twice = 2 * 0.7978845608028654 // 2 sqrt(2/pi); 0.5(1 + tanh(u)) is sigmoid(2u)
		return math32.FastDiv(x, 1+math32.FastExp(-twice*(x+0.044715*x*x*x)))
	case ReLU:
		return max(x, 0)
	case Sigmoid:
		return math32.FastDiv(1, 1+math32.FastExp(-x))
	}
	return silu(x)
}

// silu returns x*sigmoid(x).
func silu(x float32) float32 { return math32.FastDiv(x, 1+math32.FastExp(-x)) }

// gated returns silu(gate)*up.
func gated(gate, up float32) float32 { return silu(gate) * up }
