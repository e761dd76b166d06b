package numbers

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
	"github.com/gopherwarp/gopherwarp/math32"
)

// singles has the functions of package math32, which have the same bits everywhere.
type singles struct {
	Abs, Ceil, Floor, Trunc, Round, RoundToEven, Sqrt, Rsqrt, Cbrt, Copysign, Max, Min, Dim, Mod, Frexp, Ldexp, Modf, Fraction, FMA float32
	Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Pow, Hypot, Erf, Erfc                                                                float32
	Sin, Cos, SincosSin, SincosCos, Tan, Asin, Acos, Atan, Atan2, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh                             float32
	Signbit, IsNaN, IsInf, IsInfNegative                                                                                            bool
	FrexpExponent                                                                                                                   int
}

func inSingle(p pair[float32]) (r singles) {
	x, y := p.A, p.B
	r.Abs, r.Ceil, r.Floor, r.Trunc, r.Round, r.RoundToEven = math32.Abs(x), math32.Ceil(x), math32.Floor(x), math32.Trunc(x), math32.Round(x), math32.RoundToEven(x)
	r.Sqrt, r.Rsqrt, r.Cbrt, r.Max, r.Min, r.Dim, r.Mod = math32.Sqrt(x), math32.Rsqrt(x), math32.Cbrt(x), math32.Max(x, y), math32.Min(x, y), math32.Dim(x, y), math32.Mod(x, y)
	r.Frexp, r.FrexpExponent = math32.Frexp(x)
	r.Modf, r.Fraction = math32.Modf(x)
	r.Ldexp, r.FMA = math32.Ldexp(x, -9), math32.FMA(x, y, x)
	r.Exp, r.Exp2, r.Expm1, r.Pow = math32.Exp(x), math32.Exp2(x), math32.Expm1(x), math32.Pow(x, y)
	r.Log, r.Log2, r.Log10, r.Log1p = math32.Log(x), math32.Log2(x), math32.Log10(x), math32.Log1p(x)
	r.Hypot, r.Erf, r.Erfc = math32.Hypot(x, y), math32.Erf(x), math32.Erfc(x)
	r.Sin, r.Cos, r.Tan = math32.Sin(x), math32.Cos(x), math32.Tan(x)
	r.SincosSin, r.SincosCos = math32.Sincos(y)
	r.Asin, r.Acos, r.Atan, r.Atan2 = math32.Asin(x), math32.Acos(x), math32.Atan(x), math32.Atan2(x, y)
	r.Sinh, r.Cosh, r.Tanh = math32.Sinh(x), math32.Cosh(x), math32.Tanh(x)
	r.Asinh, r.Acosh, r.Atanh = math32.Asinh(x), math32.Acosh(x), math32.Atanh(x)
	r.IsNaN, r.IsInf, r.IsInfNegative = math32.IsNaN(x), math32.IsInf(x, 0), math32.IsInf(y, -1)
	if x == x && y == y {
		r.Copysign, r.Signbit = math32.Copysign(x, y), math32.Signbit(x)
	}
	return r
}

// inSingles may fuse products with sums: the functions' bits must not depend on it.
//
//gpu:kernel
func inSingles(t gpu.Thread, in []pair[float32], out []singles) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = inSingle(in[i])
	}
}

// approximations has the functions of package math32 that are fast.
type approximations struct{ Exp, Exp2, Log, Log2, Pow, Sin, Cos, Div, Rcp, Sqrt, Rsqrt float32 }

// approximate takes x between 0 and 1.
func approximate(x float32) (r approximations) {
	r.Exp, r.Exp2, r.Log, r.Log2 = math32.FastExp(3*x), math32.FastExp2(x), math32.FastLog(3*x+1), math32.FastLog2(x+0.5)
	r.Pow, r.Sin, r.Cos = math32.FastPow(x+1, 3), math32.FastSin(3*x), math32.FastCos(3*x)
	r.Div, r.Rcp, r.Sqrt, r.Rsqrt = math32.FastDiv(x, 3), math32.FastRcp(x+1), math32.FastSqrt(x+1), math32.FastRsqrt(x+1)
	return r
}

//gpu:kernel
//gpu:contract off
func approximates(t gpu.Thread, in []float32, out []approximations) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = approximate(in[i])
	}
}

// fastTanh is by itself: it needs a GPU of compute capability 7.5.
//
//gpu:kernel
func fastTanh(t gpu.Thread, in, out []float32) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = math32.FastTanh(in[i])
	}
}

func tanhNear(r *check.Run) {
	in := []float32{0, -0.001, 0.1, -0.5, 0.9, 2, -5, 20}
	out := check.Make[float32](r, len(in))
	r.Launch(FastTanh(r.Stream, device.Cover(len(in), 32), check.Upload(r, in...), out))
	for i, got := range check.Get(r, out) {
		if want := math.Tanh(float64(in[i])); !(math.Abs(float64(got)-want) <= 0x1p-10*math.Abs(want)) {
			r.Wrong("of %v is %v, want %v", in[i], got, want)
		}
	}
}
