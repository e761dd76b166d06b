package frontend

import (
	"math"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

var infinity, minusInfinity = math.Inf(1), math.Inf(-1)

// float returns an intrinsic that is one operation on floats.
func float(op ir.Op) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		return l.emit(op, l.typeOf(v), l.operands(v.Call.Args)...)
	}
}

// mathExtreme is math.Max or math.Min. Unlike the operations, and the built-in functions, they let an
// infinity win over a NaN.
func mathExtreme(op ir.Op, winner float64) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		t, x, y := l.typeOf(v), l.value(v.Call.Args[0]), l.value(v.Call.Args[1])
		inf := l.constant(t, int64(math.Float64bits(winner)))
		if t.Kind == ir.KindF32 {
			inf = l.constant(t, int64(int32(math.Float32bits(float32(winner)))))
		}
		either := l.emit(ir.OpOr, ir.I1, l.emit(ir.OpFEq, ir.I1, x, inf), l.emit(ir.OpFEq, ir.I1, y, inf))
		return l.emit(ir.OpSelect, t, either, inf, l.emit(op, t, x, y))
	}
}

func reinterpret(l *lowerer, v *ssa.Call) *ir.Value {
	return l.emit(ir.OpBitcast, l.typeOf(v), l.value(v.Call.Args[0]))
}

func unaryOp(op ir.Op) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		return l.emit(op, l.typeOf(v), l.value(v.Call.Args[0]))
	}
}

// counts returns an intrinsic that is an operation on an integer of any width, as an int.
func counts(op ir.Op) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		x := l.value(v.Call.Args[0])
		return l.resize(l.emit(op, x.Type, x), ir.I64, true)
	}
}

func leadingZeros(l *lowerer, v *ssa.Call) *ir.Value { return counts(ir.OpClz)(l, v) }

// trailingZeros counts the leading zeros of the bits in reverse.
func trailingZeros(l *lowerer, v *ssa.Call) *ir.Value {
	x := l.value(v.Call.Args[0])
	return l.resize(l.emit(ir.OpClz, x.Type, l.emit(ir.OpBrev, x.Type, x)), ir.I64, true)
}

func bitLength(l *lowerer, v *ssa.Call) *ir.Value {
	width := l.value(v.Call.Args[0]).Type.Bits()
	return l.emit(ir.OpSub, ir.I64, l.int64(int64(width)), leadingZeros(l, v))
}

// powerOfZero computes -0 to the power of y, which is no zero: math.pow calls math.Pow for
// nothing else, and kernels have no recursion.
func (l *lowerer) powerOfZero(isOddInt *ssa.Function, y ssa.Value) *ir.Value {
	e, zero := l.value(y), l.constant(ir.F64, 0)
	inf := l.constant(ir.F64, int64(math.Float64bits(infinity)))
	odd := l.emitAux(ir.OpCall, ir.I1, l.reach(isOddInt).ir, e)
	p := l.emit(ir.OpSelect, ir.F64, l.emit(ir.OpFLt, ir.I1, e, zero), inf, zero)
	return l.emit(ir.OpSelect, ir.F64, odd, l.emit(ir.OpFNeg, ir.F64, p), p)
}

// scaleByPower computes x * 2**n. If x and the product are normal numbers, n is added to the exponent field of x;
// otherwise ldexp, the function of package math, is called.
func (l *lowerer) scaleByPower(ldexp *ssa.Function, x, n *ir.Value) *ir.Value {
	const maxField = 0x7ff
	fraction := l.constant(ir.I32, 52) // the bits below the field
	bits := l.emit(ir.OpBitcast, ir.I64, x)
	field := l.emit(ir.OpAnd, ir.I64, l.emit(ir.OpLShr, ir.I64, bits, fraction), l.int64(maxField))
	normal := func(field *ir.Value) *ir.Value { // neither 0 nor maxField
		return l.emit(ir.OpULt, ir.I1, l.emit(ir.OpSub, ir.I64, field, l.int64(1)), l.int64(maxField-1))
	}
	ordinary := l.emit(ir.OpAnd, ir.I1, normal(field), normal(l.emit(ir.OpAdd, ir.I64, field, n)))
	scaled := l.emit(ir.OpAdd, ir.I64, bits, l.emit(ir.OpShl, ir.I64, n, fraction))
	product := l.emit(ir.OpBitcast, ir.F64, scaled)
	return l.unless(ordinary, product, ldexp, x, n)
}

// unless returns a result if ok holds, as it does mostly, and otherwise that of a call.
func (l *lowerer) unless(ok, result *ir.Value, fn *ssa.Function, args ...*ir.Value) *ir.Value {
	call, after := l.f.NewBlock(), l.f.NewBlock()
	call.Cold = true
	l.fork(ok, after, call)

	l.cur = call
	other := l.emitAux(ir.OpCall, result.Type, l.reach(fn).ir, args...)
	l.jump(after)
	l.cur = after
	return l.emit(ir.OpPhi, result.Type, result, other)
}

// float64 makes a constant.
func (l *lowerer) float64(x float64) *ir.Value {
	return l.constant(ir.F64, int64(math.Float64bits(x)))
}

// wideProduct is bits.Mul64: the upper and the lower half of the product.
func wideProduct(l *lowerer, v *ssa.Call) *ir.Value {
	x, y := l.value(v.Call.Args[0]), l.value(v.Call.Args[1])
	hi, lo := l.emit(ir.OpUMulHi, ir.I64, x, y), l.emit(ir.OpMul, ir.I64, x, y)
	return l.emit(ir.OpStruct, ir.StructOf(ir.I64, ir.I64), hi, lo)
}
