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

// wideProduct is bits.Mul64: the upper and the lower half of the product.
func wideProduct(l *lowerer, v *ssa.Call) *ir.Value {
	x, y := l.value(v.Call.Args[0]), l.value(v.Call.Args[1])
	hi, lo := l.emit(ir.OpUMulHi, ir.I64, x, y), l.emit(ir.OpMul, ir.I64, x, y)
	return l.emit(ir.OpStruct, ir.StructOf(ir.I64, ir.I64), hi, lo)
}
