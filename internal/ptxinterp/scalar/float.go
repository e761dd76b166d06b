package scalar

import (
	"math"
	"math/big"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// arithmetic is one operation on numbers of up to three operands: as Go computes it, to
// nearest, in both precisions, and as an exact or long value for the other modes. long is
// called for finite operands only, and may return nil if native's result is exact.
type arithmetic struct {
	single func(a, b, c float32) float32
	double func(a, b, c float64) float64
	long   func(a, b, c float64) *big.Float
	zero   func(native float64, m Mode, a, b, c float64) float64 // sign of an exact zero, or nil
}

// build returns the operation for a type and rounding.
func (op arithmetic) build(t ptx.Type, r Rounding) (Ternary, bool) {
	switch t {
	case ptx.F32:
		return op.build32(r), true
	case ptx.F64:
		return op.build64(r), !r.Flush && !r.Clamp
	}
	return nil, false
}

func (op arithmetic) build32(r Rounding) Ternary {
	if r == (Rounding{}) {
		return func(a, b, c uint64) uint64 { return bits32(op.single(f32(a), f32(b), f32(c))) }
	}
	return func(a, b, c uint64) uint64 {
		x, y, z := f32(a), f32(b), f32(c)
		if r.Flush {
			x, y, z = flush(x), flush(y), flush(z)
		}
		f := op.rounded32(x, y, z, r.Mode)
		if r.Flush {
			f = flush(f)
		}
		if r.Clamp {
			f = saturate(f)
		}
		return bits32(f)
	}
}

func (op arithmetic) rounded32(x, y, z float32, m Mode) float32 {
	f := op.single(x, y, z)
	a, b, c := float64(x), float64(y), float64(z)
	if m == Nearest || f != f || !finite(a, b, c) {
		return f
	}
	v := op.long(a, b, c)
	switch {
	case v == nil:
		return f
	case v.Sign() == 0 && op.zero != nil:
		return float32(op.zero(float64(f), m, a, b, c))
	case v.Sign() == 0:
		return f
	}
	return round32(v, m)
}

func (op arithmetic) build64(r Rounding) Ternary {
	if r.Mode == Nearest {
		return func(a, b, c uint64) uint64 { return bits64(op.double(f64(a), f64(b), f64(c)), a, b, c) }
	}
	return func(a, b, c uint64) uint64 {
		return bits64(op.rounded64(f64(a), f64(b), f64(c), r.Mode), a, b, c)
	}
}

func (op arithmetic) rounded64(a, b, c float64, m Mode) float64 {
	f := op.double(a, b, c)
	if f != f || !finite(a, b, c) {
		return f
	}
	v := op.long(a, b, c)
	switch {
	case v == nil:
		return f
	case v.Sign() == 0 && op.zero != nil:
		return op.zero(f, m, a, b, c)
	case v.Sign() == 0:
		return f
	}
	return round64(v, m)
}

func binary(op arithmetic, t ptx.Type, r Rounding) (Binary, bool) {
	f, ok := op.build(t, r)
	if !ok {
		return nil, false
	}
	return func(a, b uint64) uint64 { return f(a, b, 0) }, true
}

func unary(op arithmetic, t ptx.Type, r Rounding) (Unary, bool) {
	f, ok := op.build(t, r)
	if !ok {
		return nil, false
	}
	return func(a uint64) uint64 { return f(a, 0, 0) }, true
}

// FloatAdd returns addition.
func FloatAdd(t ptx.Type, r Rounding) (Binary, bool) {
	return binary(arithmetic{
		single: func(a, b, _ float32) float32 { return a + b },
		double: func(a, b, _ float64) float64 { return a + b },
		long:   func(a, b, _ float64) *big.Float { return sum(a, 1, b) },
		zero:   func(f float64, m Mode, a, b, _ float64) float64 { return exactZero(f, m, a, b) },
	}, t, r)
}

// FloatSub returns subtraction.
func FloatSub(t ptx.Type, r Rounding) (Binary, bool) {
	return binary(arithmetic{
		single: func(a, b, _ float32) float32 { return a - b },
		double: func(a, b, _ float64) float64 { return a - b },
		long:   func(a, b, _ float64) *big.Float { return sum(a, 1, -b) },
		zero:   func(f float64, m Mode, a, b, _ float64) float64 { return exactZero(f, m, a, -b) },
	}, t, r)
}

// FloatMul returns multiplication.
func FloatMul(t ptx.Type, r Rounding) (Binary, bool) {
	return binary(arithmetic{
		single: func(a, b, _ float32) float32 { return a * b },
		double: func(a, b, _ float64) float64 { return a * b },
		long:   func(a, b, _ float64) *big.Float { return sum(a, b, 0) },
	}, t, r)
}

// FloatFma returns a*b + c, rounded once.
func FloatFma(t ptx.Type, r Rounding) (Ternary, bool) {
	return arithmetic{
		single: fma32,
		double: math.FMA,
		long:   sum,
		zero: func(f float64, m Mode, a, b, c float64) float64 {
			return exactZero(f, m, math.Copysign(1, a)*math.Copysign(1, b), c)
		},
	}.build(t, r)
}

// FloatDiv returns division.
func FloatDiv(t ptx.Type, r Rounding) (Binary, bool) {
	return binary(arithmetic{
		single: func(a, b, _ float32) float32 { return a / b },
		double: func(a, b, _ float64) float64 { return a / b },
		long:   func(a, b, _ float64) *big.Float { return quotient(a, b) },
	}, t, r)
}

// FloatRcp returns the reciprocal.
func FloatRcp(t ptx.Type, r Rounding) (Unary, bool) {
	return unary(arithmetic{
		single: func(a, _, _ float32) float32 { return 1 / a },
		double: func(a, _, _ float64) float64 { return 1 / a },
		long:   func(a, _, _ float64) *big.Float { return quotient(1, a) },
	}, t, r)
}

func quotient(a, b float64) *big.Float {
	if a == 0 || b == 0 {
		return nil
	}
	return new(big.Float).SetPrec(quotientBits).Quo(exact(a), exact(b))
}

// FloatSqrt returns the square root.
func FloatSqrt(t ptx.Type, r Rounding) (Unary, bool) {
	return unary(arithmetic{
		single: func(a, _, _ float32) float32 { return float32(math.Sqrt(float64(a))) },
		double: func(a, _, _ float64) float64 { return math.Sqrt(a) },
		long: func(a, _, _ float64) *big.Float {
			if a == 0 {
				return nil
			}
			x := new(big.Float).SetPrec(quotientBits).SetFloat64(a)
			return x.Sqrt(x)
		},
	}, t, r)
}
