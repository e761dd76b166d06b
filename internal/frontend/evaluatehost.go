package frontend

import (
	"math"
	"math/bits"
	"reflect"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// hostFunctions are the functions that are called instead of evaluating their Go source: those of package math, for which the host may have
// other code, and those whose calls in kernels become operations (Replaces), because what such a function calls is not loaded.
var hostFunctions = map[string]any{
	"math.Abs": math.Abs, "math.Acos": math.Acos, "math.Acosh": math.Acosh, "math.Asin": math.Asin, "math.Asinh": math.Asinh,
	"math.Atan": math.Atan, "math.Atan2": math.Atan2, "math.Atanh": math.Atanh, "math.Cbrt": math.Cbrt, "math.Ceil": math.Ceil,
	"math.Copysign": math.Copysign, "math.Cos": math.Cos, "math.Cosh": math.Cosh, "math.Dim": math.Dim, "math.Erf": math.Erf,
	"math.Erfc": math.Erfc, "math.Erfcinv": math.Erfcinv, "math.Erfinv": math.Erfinv, "math.Exp": math.Exp, "math.Exp2": math.Exp2,
	"math.Expm1": math.Expm1, "math.FMA": math.FMA, "math.Float32bits": math.Float32bits,
	"math.Float32frombits": math.Float32frombits, "math.Float64bits": math.Float64bits, "math.Float64frombits": math.Float64frombits,
	"math.Floor": math.Floor, "math.Frexp": math.Frexp, "math.Gamma": math.Gamma, "math.Hypot": math.Hypot, "math.Inf": math.Inf,
	"math.IsInf": math.IsInf, "math.IsNaN": math.IsNaN, "math.J0": math.J0, "math.J1": math.J1, "math.Ldexp": math.Ldexp,
	"math.Log": math.Log, "math.Log10": math.Log10, "math.Log1p": math.Log1p, "math.Log2": math.Log2, "math.Logb": math.Logb,
	"math.Max": math.Max, "math.Min": math.Min, "math.Mod": math.Mod, "math.Modf": math.Modf, "math.NaN": math.NaN,
	"math.Nextafter": math.Nextafter, "math.Pow": math.Pow, "math.Pow10": math.Pow10, "math.Remainder": math.Remainder,
	"math.Round": math.Round, "math.RoundToEven": math.RoundToEven, "math.Signbit": math.Signbit, "math.Sin": math.Sin,
	"math.Sincos": math.Sincos, "math.Sinh": math.Sinh, "math.Sqrt": math.Sqrt, "math.Tan": math.Tan, "math.Tanh": math.Tanh,
	"math.Trunc": math.Trunc, "math.Y0": math.Y0, "math.Y1": math.Y1,

	"math/bits.LeadingZeros": bits.LeadingZeros, "math/bits.LeadingZeros8": bits.LeadingZeros8, "math/bits.LeadingZeros16": bits.LeadingZeros16,
	"math/bits.LeadingZeros32": bits.LeadingZeros32, "math/bits.LeadingZeros64": bits.LeadingZeros64, "math/bits.Len": bits.Len,
	"math/bits.Len8": bits.Len8, "math/bits.Len16": bits.Len16, "math/bits.Len32": bits.Len32, "math/bits.Len64": bits.Len64,
	"math/bits.Mul": bits.Mul, "math/bits.Mul64": bits.Mul64, "math/bits.OnesCount": bits.OnesCount, "math/bits.OnesCount8": bits.OnesCount8,
	"math/bits.OnesCount16": bits.OnesCount16, "math/bits.OnesCount32": bits.OnesCount32, "math/bits.OnesCount64": bits.OnesCount64,
	"math/bits.Reverse": bits.Reverse, "math/bits.Reverse8": bits.Reverse8, "math/bits.Reverse16": bits.Reverse16,
	"math/bits.Reverse32": bits.Reverse32, "math/bits.Reverse64": bits.Reverse64, "math/bits.TrailingZeros": bits.TrailingZeros,
	"math/bits.TrailingZeros8": bits.TrailingZeros8, "math/bits.TrailingZeros16": bits.TrailingZeros16,
	"math/bits.TrailingZeros32": bits.TrailingZeros32, "math/bits.TrailingZeros64": bits.TrailingZeros64,

	"(" + dtypePath + ".F16).Float32": dtype.F16.Float32, dtypePath + ".F16From32": dtype.F16From32,
	"(" + dtypePath + ".BF16).Float32": dtype.BF16.Float32, dtypePath + ".BF16From32": dtype.BF16From32,
	math32Path + ".Max": func(x, y float32) float32 { return float32(math.Max(float64(x), float64(y))) },
	math32Path + ".Min": func(x, y float32) float32 { return float32(math.Min(float64(x), float64(y))) },
}

// callHost calls a host function. The evaluator holds integers of all types as int64.
func callHost(fn any, args []any) any {
	f := reflect.ValueOf(fn)
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a).Convert(f.Type().In(i))
	}
	var results list
	for _, out := range f.Call(in) {
		switch {
		case out.CanInt():
			results = append(results, out.Int())
		case out.CanUint():
			results = append(results, int64(out.Uint()))
		default:
			results = append(results, out.Interface())
		}
	}
	if len(results) == 1 {
		return results[0]
	}
	return results
}
