package numbers

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// exact has functions of package math whose result is the same on every machine.
type exact struct {
	Abs, Ceil, Floor, Trunc, Round, RoundToEven, Sqrt, Copysign, Max, Min, Dim, Mod, Remainder float64
	Nextafter, Frexp, Ldexp, Modf, Inf, NaN, FMA, Logb                                         float64
	Nextafter32                                                                                float32
	Signbit, IsNaN, IsInf, IsInfNegative                                                       bool
	Ilogb, FrexpExponent                                                                       int
	Float32bits                                                                                uint32
}

func exactly(p pair[float64]) (r exact) {
	x, y := p.A, p.B
	r.Abs, r.Ceil, r.Floor, r.Trunc, r.Round, r.RoundToEven = math.Abs(x), math.Ceil(x), math.Floor(x), math.Trunc(x), math.Round(x), math.RoundToEven(x)
	r.Sqrt, r.Max, r.Min, r.Dim = math.Sqrt(x), math.Max(x, y), math.Min(x, y), math.Dim(x, y)
	r.Mod, r.Remainder = math.Mod(x, y), math.Remainder(x, y)
	r.Nextafter, r.Nextafter32 = math.Nextafter(x, y), math.Nextafter32(float32(x), float32(y))
	r.Frexp, r.FrexpExponent = math.Frexp(x)
	r.Ldexp = math.Ldexp(x, 5)
	_, r.Modf = math.Modf(x)
	r.Inf, r.NaN, r.FMA, r.Logb = math.Inf(-1), math.NaN(), math.FMA(x, y, 1), math.Logb(x)
	r.IsNaN, r.IsInf, r.IsInfNegative = math.IsNaN(x), math.IsInf(x, 0), math.IsInf(y, -1)
	if x == x && y == y {
		r.Copysign, r.Signbit, r.Float32bits = math.Copysign(x, y), math.Signbit(x), math.Float32bits(float32(x))
	}
	if x != 0 && !math.IsInf(x, 0) && x == x {
		r.Ilogb = math.Ilogb(x)
	}
	return r
}

//gpu:kernel
func exacts(t gpu.Thread, in []pair[float64], out []exact) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = exactly(in[i])
	}
}

// functions has functions of package math that are near the true value, on some machines nearer
// than on others.
type functions struct {
	Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh float64
	Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Cbrt, Erf, Erfc, Erfinv     float64
	Gamma, Lgamma, J0, J1, Y0, Y1, Pow, Atan2, Hypot, Pow10, SincosSin     float64
}

// evaluate takes x between 0 and 1.
func evaluate(x float64) (r functions) {
	r.Sin, r.Cos, r.Tan, r.Asin, r.Acos, r.Atan = math.Sin(x*30), math.Cos(x*30), math.Tan(x), math.Asin(x), math.Acos(x), math.Atan(x*9)
	r.Sinh, r.Cosh, r.Tanh, r.Asinh, r.Acosh, r.Atanh = math.Sinh(x), math.Cosh(x), math.Tanh(x), math.Asinh(x), math.Acosh(1+x), math.Atanh(x*0.9)
	r.Exp, r.Exp2, r.Expm1 = math.Exp(x*20-10), math.Exp2(x*10), math.Expm1(x)
	r.Log, r.Log2, r.Log10, r.Log1p = math.Log(x+0.01), math.Log2(x+0.01), math.Log10(x+0.01), math.Log1p(x)
	r.Cbrt, r.Erf, r.Erfc, r.Erfinv = math.Cbrt(x), math.Erf(x), math.Erfc(x), math.Erfinv(x*0.9)
	r.Gamma, r.J0, r.J1, r.Y0, r.Y1 = math.Gamma(x+1), math.J0(x*9), math.J1(x*9), math.Y0(x+1), math.Y1(x+1)
	r.Lgamma, _ = math.Lgamma(x + 2)
	r.Pow, r.Atan2, r.Hypot, r.Pow10 = math.Pow(x+0.5, x*3), math.Atan2(x, 0.5), math.Hypot(x, 2), math.Pow10(int(x*20))
	r.SincosSin, _ = math.Sincos(x)
	return r
}

//gpu:kernel
//gpu:contract off
func evaluates(t gpu.Thread, in []float64, out []functions) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = evaluate(in[i])
	}
}
