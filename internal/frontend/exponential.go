package frontend

import (
	"math"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// exponential computes e**x with the bits of exp, the function of package math, and fewer instructions:
//
//	k = x / ln 2, rounded to an integer
//	r = hi - lo, where hi = x - k*Ln2Hi and lo = k*Ln2Lo
//	e**x = 2**k * (1 - ((lo - r*c/(2-c)) - hi)), where c = r - r*r*polynomial(r*r)
//
// exp itself is called where the result may be no normal number, or k another integer than that of exp, which
// rounds on the way to it: |r| is then close to ln 2 / 2.
//
// If |x| is below 2**-28, exp returns 1+x. So does the formula with a quotient of 0, because k is 0.
func (l *lowerer) exponential(exp *ssa.Function, x *ir.Value) *ir.Value {
	k, power := l.nearestInteger(l.float64(math.Log2E), x)
	hi := l.emit(ir.OpFma, ir.F64, k, l.float64(-0x1.62e42feep-1), x) // k*Ln2Hi needs no rounding
	lo := l.emit(ir.OpFMul, ir.F64, k, l.float64(0x1.a39ef35793c76p-33))
	r := l.emit(ir.OpFSub, ir.F64, hi, lo)
	quotient := l.emit(ir.OpSelect, ir.F64, l.below(x, 0x1p-28), l.float64(0), l.expQuotient(r))
	rest := l.emit(ir.OpFSub, ir.F64, l.emit(ir.OpFSub, ir.F64, lo, quotient), hi)
	product := l.addToExponent(l.emit(ir.OpFSub, ir.F64, l.float64(1), rest), power)
	same := l.emit(ir.OpAnd, ir.I1, l.below(x, 704), l.below(r, 0x1.62e42p-2))
	return l.unless(same, product, exp, x)
}

// nearestInteger returns the integer nearest to c*x, as a float64 and as an i32. It is the last bits of a sum whose
// unit in the last place is 1.
func (l *lowerer) nearestInteger(c, x *ir.Value) (k, power *ir.Value) {
	large := l.float64(0x1.8p52)
	sum := l.emit(ir.OpFma, ir.F64, c, x, large)
	return l.emit(ir.OpFSub, ir.F64, sum, large), l.emit(ir.OpTrunc, ir.I32, l.emit(ir.OpBitcast, ir.I64, sum))
}

// expQuotient returns r*c/(2-c).
func (l *lowerer) expQuotient(r *ir.Value) *ir.Value {
	t := l.emit(ir.OpFMul, ir.F64, r, r)
	p := l.float64(4.13813679705723846039e-08)
	for _, coefficient := range []float64{-1.65339022054652515390e-06, 6.61375632143793436117e-05, -2.77777777770155933842e-03, 1.66666666666666657415e-01} {
		p = l.emit(ir.OpFAdd, ir.F64, l.float64(coefficient), l.emit(ir.OpFMul, ir.F64, t, p))
	}
	c := l.emit(ir.OpFSub, ir.F64, r, l.emit(ir.OpFMul, ir.F64, t, p))
	return l.emitImm(ir.OpFDiv, ir.F64, 1, l.emit(ir.OpFMul, ir.F64, r, c), l.emit(ir.OpFSub, ir.F64, l.float64(2), c))
}

// below reports whether |x| is less than bound, whose last 32 bits are 0. The upper halves of float64s are in the same
// order as the float32s with these bits, and a NaN is a NaN or more than bound.
func (l *lowerer) below(x *ir.Value, bound float64) *ir.Value {
	upper := l.constant(ir.F32, int64(int32(math.Float64bits(bound)>>32)))
	return l.emit(ir.OpFLt, ir.I1, l.emit(ir.OpFAbs, ir.F32, l.emit(ir.OpBitcast, ir.F32, l.upperHalf(x))), upper)
}

// upperHalf returns the first 32 bits of a float64.
func (l *lowerer) upperHalf(x *ir.Value) *ir.Value {
	return l.emit(ir.OpTrunc, ir.I32, l.emit(ir.OpLShr, ir.I64, l.emit(ir.OpBitcast, ir.I64, x), l.constant(ir.I32, 32)))
}

// addToExponent returns x * 2**n, if x and the product are normal numbers.
func (l *lowerer) addToExponent(x, n *ir.Value) *ir.Value {
	upper := l.emit(ir.OpAdd, ir.I32, l.upperHalf(x), l.emit(ir.OpShl, ir.I32, n, l.constant(ir.I32, 20)))
	lower := l.emit(ir.OpTrunc, ir.I32, l.emit(ir.OpBitcast, ir.I64, x))
	high := l.emit(ir.OpShl, ir.I64, l.emit(ir.OpZExt, ir.I64, upper), l.constant(ir.I32, 32))
	return l.emit(ir.OpBitcast, ir.F64, l.emit(ir.OpOr, ir.I64, high, l.emit(ir.OpZExt, ir.I64, lower)))
}
