package scalar

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// Approx returns an approximate function of the ISA (section 9.7.3): rcp, sqrt, rsqrt, ex2,
// lg2, sin, cos or tanh. The single precision ones are computed in double precision and
// rounded to nearest; the ISA allows from 1 unit in the last place (rcp, ex2) to an absolute
// error of 2^-20.9 (sin, cos). The two double precision ones keep the upper 32 bits.
func Approx(name string, t ptx.Type, ftz bool) (Unary, bool) {
	f, ok := approximations(name)
	if !ok {
		return nil, false
	}
	if t == ptx.F64 {
		known := name == "rcp" && ftz || name == "rsqrt"
		return func(a uint64) uint64 { return approx64(f, a, ftz) }, known
	}
	return func(a uint64) uint64 {
		return bits32(flushIf(ftz, float32(f(float64(flushIf(ftz, f32(a)))))))
	}, t == ptx.F32
}

func approx64(f func(float64) float64, a uint64, ftz bool) uint64 {
	const smallest = 0x1p-1022
	x := f64(a)
	if ftz && math.Abs(x) < smallest {
		x = math.Copysign(0, x)
	}
	r := f(x)
	if r != r {
		return 0x7fffffff00000000
	}
	if ftz && math.Abs(r) < smallest {
		r = math.Copysign(0, r)
	}
	if !ftz {
		return math.Float64bits(r)
	}
	return math.Float64bits(r) &^ 0xffffffff
}

func approximations(name string) (func(float64) float64, bool) {
	switch name {
	case "rcp":
		return func(x float64) float64 { return 1 / x }, true
	case "sqrt":
		return math.Sqrt, true
	case "rsqrt":
		return func(x float64) float64 { return 1 / math.Sqrt(x) }, true
	case "ex2":
		return math.Exp2, true
	case "lg2":
		return math.Log2, true
	case "sin":
		return math.Sin, true
	case "cos":
		return math.Cos, true
	case "tanh":
		return math.Tanh, true
	}
	return nil, false
}

// DivApprox returns div.approx.f32: a quotient within 2 units in the last place, except that
// divisors above 2^126 give 0, or NaN for an infinite dividend.
func DivApprox(ftz bool) Binary {
	return func(a, b uint64) uint64 {
		x, y := flushIf(ftz, f32(a)), flushIf(ftz, f32(b))
		if m := math.Abs(float64(y)); m > 0x1p126 && !math.IsInf(m, 0) {
			if math.IsInf(float64(x), 0) {
				return NaN32
			}
			y = float32(math.Inf(int(math.Copysign(1, float64(y)))))
		}
		return bits32(flushIf(ftz, x/y))
	}
}
