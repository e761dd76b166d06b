package gemm

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/math32"
)

//gpu:instance ResidentNT = resident[dtype.BF16, layoutNT[dtype.BF16], toBF16, linear]
//gpu:instance CurvedNT = resident[dtype.BF16, layoutNT[dtype.BF16], toBF16, curved]
//gpu:instance ResidentNTF16 = resident[dtype.F16, layoutNT[dtype.F16], toF16, linear]
//gpu:instance CurvedNTF16 = resident[dtype.F16, layoutNT[dtype.F16], toF16, curved]
//gpu:instance ResidentNN = resident[dtype.BF16, layoutNN[dtype.BF16], toBF16, linear]
//gpu:instance ResidentTN = resident[dtype.BF16, layoutTN[dtype.BF16], toBF16, linear]

//gpu:instance PartsNT = parts[dtype.BF16, layoutNT[dtype.BF16]]
//gpu:instance PartsNTF16 = parts[dtype.F16, layoutNT[dtype.F16]]
//gpu:instance PartsNN = parts[dtype.BF16, layoutNN[dtype.BF16]]
//gpu:instance PartsTN = parts[dtype.BF16, layoutTN[dtype.BF16]]

//gpu:instance TensorBF16 = tensor[dtype.BF16, dtype.BF16, toBF16]
//gpu:instance TensorF16 = tensor[dtype.F16, dtype.F16, toF16]
//gpu:instance TensorBF16To32 = tensor[dtype.BF16, float32, toF32]
//gpu:instance TensorF16To32 = tensor[dtype.F16, float32, toF32]
//gpu:instance FewBF16 = few[dtype.BF16, dtype.BF16, toBF16, [32]float32, twoGroups]
//gpu:instance Few64BF16 = few[dtype.BF16, dtype.BF16, toBF16, [32]float32, oneGroup]
//gpu:instance Few128BF16 = few[dtype.BF16, dtype.BF16, toBF16, [64]float32, twoGroups]
//gpu:instance Cast64BF16 = cast[dtype.BF16, toBF16, [32]float32]
//gpu:instance Cast128BF16 = cast[dtype.BF16, toBF16, [64]float32]
//gpu:instance Cast192BF16 = cast[dtype.BF16, toBF16, [96]float32]
//gpu:instance FewF16 = few[dtype.F16, dtype.F16, toF16, [32]float32, twoGroups]
//gpu:instance FewBF16To32 = few[dtype.BF16, float32, toF32, [32]float32, twoGroups]
//gpu:instance Lean8 = lean[dtype.BF16, dtype.BF16, toBF16, eightRows]
//gpu:instance Lean16 = lean[dtype.BF16, dtype.BF16, toBF16, sixteenRows]
//gpu:instance Lean16F16 = lean[dtype.F16, dtype.F16, toF16, sixteenRows]
//gpu:instance Lean32F16 = lean[dtype.F16, dtype.F16, toF16, thirtyTwoRows]
//gpu:instance Lean32 = lean[dtype.BF16, dtype.BF16, toBF16, thirtyTwoRows]
//gpu:instance Lean16To32 = lean[dtype.BF16, float32, toF32, sixteenRows]
//gpu:instance JoinBF16 = join[dtype.BF16, toBF16]
//gpu:instance JoinF16 = join[dtype.F16, toF16]
//gpu:instance JoinF32 = join[float32, toF32]

// rounding converts elements from and to float32.
type rounding[T any] interface {
	wide(x T) float32
	round(x float32) T
}

type (
	toBF16 struct{}
	toF16  struct{}
	toF32  struct{}
)

func (toBF16) wide(x dtype.BF16) float32  { return x.Float32() }
func (toBF16) round(x float32) dtype.BF16 { return dtype.BF16From32(x) }
func (toF16) wide(x dtype.F16) float32    { return x.Float32() }
func (toF16) round(x float32) dtype.F16   { return dtype.F16From32(x) }
func (toF32) wide(x float32) float32      { return x }
func (toF32) round(x float32) float32     { return x }

// Activation is a function that is applied to each element of a result.
type Activation int32

// The activations.
const (
	None   Activation = iota
	SiLU              // x times the logistic function of x
	GELU              // x times the normal cumulative distribution function of x, with an error of at most 2.6e-5
	SwiGLU            // SiLU of the first half of the columns times the second half, element by element: C has N/2 columns
)

// ending is whether a kernel has activations.
type ending interface{ active() bool }

type (
	linear struct{}
	curved struct{}
)

func (linear) active() bool { return false }
func (curved) active() bool { return true }

// apply applies an activation to an accumulator. SwiGLU leaves its results in the first half. The elements of one activation follow each
// other without a branch, so that a multiprocessor computes several at the same time.
func apply(acc *[128]float32, a Activation) {
	switch a {
	case SiLU:
		for i := range acc {
			acc[i] = silu(acc[i])
		}
	case GELU:
		for i := range acc {
			acc[i] = gelu(acc[i])
		}
	case SwiGLU:
		for i := range 64 {
			acc[i] = silu(acc[i]) * acc[64+i]
		}
	}
}

// activate returns an activation of x: SiLU for SwiGLU.
func activate(x float32, a Activation) float32 {
	switch a {
	case None:
		return x
	case GELU:
		return gelu(x)
	}
	return silu(x)
}

// silu returns x times the logistic function of x. Of negative infinity, the result is NaN.
func silu(x float32) float32 { return math32.FastDiv(x, 1+math32.FastExp(-x)) }

// gelu returns x times the normal distribution function of x (Hendrycks, Gimpel, "Gaussian Error Linear Units"). That of -a, for a = |x|, is
// exp(-a*a/2) times a polynomial in 1/(1 + 0.332672*a): formula 7.1.25 of Abramowitz and Stegun, "Handbook of Mathematical Functions".
// The error of the result is at most 2.6e-5.
func gelu(x float32) float32 {
	a := min(math32.Abs(x), 15) // the exponential is 0 from there on
	t := math32.FastRcp(1 + 0.332672*a)
	p := ((0.3739278*t-0.0479399)*t + 0.1740121) * t
	return max(x, 0) - a*(p*math32.FastExp2(-0.5*math.Log2E*a*a))
}
