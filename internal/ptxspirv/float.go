package ptxspirv

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// divide translates div of floats. Vulkan lets a quotient of float32 be 2.5 units in the last place off, so it is computed in float64 and
// rounded, which gives the correctly rounded quotient.
func (t *translator) divide(typ ptx.Type) {
	a, b := t.arg(1, typ), t.arg(2, typ)
	if t.has("approx") || t.has("full") {
		t.result(typ, t.op(spirv.OpFDiv, typ, a, b))
		return
	}
	t.rounded()
	t.result(typ, t.throughDouble(typ, func(x ...spirv.ID) spirv.ID { return t.op(spirv.OpFDiv, ptx.F64, x...) }, a, b))
}

// throughDouble computes a function of float32 in float64.
func (t *translator) throughDouble(typ ptx.Type, f func(...spirv.ID) spirv.ID, operands ...spirv.ID) spirv.ID {
	if typ == ptx.F64 {
		return f(operands...)
	}
	wide := make([]spirv.ID, len(operands))
	for i, v := range operands {
		wide[i] = t.op(spirv.OpFConvert, ptx.F64, v)
	}
	return t.op(spirv.OpFConvert, ptx.F32, f(wide...))
}

// floatExtremum translates min and max: -0 is less than 0, and a NaN counts only if both operands are NaN or .NaN is set.
func (t *translator) floatExtremum(typ ptx.Type, less spirv.Op) {
	a, b := t.arg(1, typ), t.arg(2, typ)
	bits := untyped(typ)
	ab, bb := t.bits(t.in.Args[1], typ), t.bits(t.in.Args[2], typ)
	join := spirv.OpBitwiseAnd // of zeros, the maximum
	if less == spirv.OpFOrdLessThan {
		join = spirv.OpBitwiseOr
	}
	v := t.choose(bits, t.test(less, a, b), ab, bb)
	v = t.choose(bits, t.test(spirv.OpFOrdEqual, a, b), t.op(join, bits, ab, bb), v)
	nan := t.number(typ.Size(), 0x7fffffff)
	if typ.Size() == 8 {
		nan = t.wide(0x7ff8000000000000)
	}
	if t.has("NaN") {
		either := t.op(spirv.OpLogicalOr, ptx.Pred, t.isNaN(a), t.isNaN(b))
		t.result(bits, t.choose(bits, either, nan, v))
		return
	}
	v = t.choose(bits, t.isNaN(a), bb, v)
	v = t.choose(bits, t.isNaN(b), t.choose(bits, t.isNaN(a), nan, ab), v)
	t.result(bits, v)
}

// copySign translates copysign, which gives its second operand the sign of the first.
func (t *translator) copySign() {
	typ := t.typ(0)
	bits := untyped(typ)
	sign := t.op(spirv.OpBitwiseAnd, bits, t.bits(t.in.Args[1], typ), t.signBit(typ))
	rest := t.op(spirv.OpBitwiseAnd, bits, t.bits(t.in.Args[2], typ), t.op(spirv.OpNot, bits, t.signBit(typ)))
	t.result(bits, t.op(spirv.OpBitwiseOr, bits, sign, rest))
}

// function translates a function of one float, which is rounded to nearest or approximate.
func (t *translator) function(f func(typ ptx.Type, x spirv.ID) spirv.ID) {
	typ := t.typ(0)
	t.rounded()
	x := t.arg(1, typ)
	if t.has("approx") {
		t.result(typ, f(typ, x))
		return
	}
	t.result(typ, t.throughDouble(typ, func(x ...spirv.ID) spirv.ID { return f(ptx.F64, x[0]) }, x))
}

func (t *translator) reciprocal(typ ptx.Type, x spirv.ID) spirv.ID {
	return t.op(spirv.OpFDiv, typ, t.real(typ.Size(), 1), x)
}

// extended returns a function of GLSL.std.450.
func (t *translator) extended(op uint32) func(typ ptx.Type, x spirv.ID) spirv.ID {
	return func(typ ptx.Type, x spirv.ID) spirv.ID { return t.Extended(op, t.float(typ.Size()), x) }
}

// convert translates cvt.
func (t *translator) convert() {
	to, from := t.typ(1), t.typ(0)
	if to == ptx.F16x2 || to == ptx.BF16x2 {
		t.convertPair(to)
		return
	}
	x := t.arg(1, from)
	if isFloat(to) && !isFloat(from) {
		x = t.becomesFloat(from, x)
	}
	switch {
	case from == ptx.F16:
		t.fromHalf(to, x)
	case from == ptx.BF16:
		t.result(ptx.B32, t.op(spirv.OpShiftLeftLogical, ptx.B32, x, t.word(16)))
	case to == ptx.F16:
		t.result(ptx.U16, t.half(x))
	case to == ptx.BF16:
		t.result(ptx.U16, t.brainFloat(t.bits(t.in.Args[1], from)))
	case isFloat(from) && isFloat(to):
		t.result(to, t.convertFloat(to, from, x))
	case isFloat(from):
		t.result(to, t.toInteger(to, from, x))
	case isFloat(to):
		t.result(to, t.fromInteger(to, from, t.trim(from, x)))
	default:
		t.convertInteger(to, from, x)
	}
}

func (t *translator) convertInteger(to, from ptx.Type, x spirv.ID) {
	x = t.trim(from, x)
	if held(to) != held(from) {
		op := spirv.OpUConvert
		if from.Class() == ptx.Signed {
			op = spirv.OpSConvert
		}
		x = t.op(op, to, x)
	}
	t.result(to, t.trim(to, x))
}

// convertFloat converts between float types, or rounds to integers.
func (t *translator) convertFloat(to, from ptx.Type, x spirv.ID) spirv.ID {
	for mod, op := range map[string]uint32{"rni": spirv.GLSLRoundEven, "rzi": spirv.GLSLTrunc, "rmi": spirv.GLSLFloor, "rpi": spirv.GLSLCeil} {
		if t.has(mod) {
			return t.Extended(op, t.float(to.Size()), x)
		}
	}
	if to == from {
		return x
	}
	t.rounded()
	v := t.op(spirv.OpFConvert, to, x)
	switch {
	case t.options.Denormals[0]:
		return v
	case to == ptx.F64:
		return t.widenSubnormal(x, v)
	}
	return t.narrowToSubnormal(x, v)
}

// widenSubnormal returns a float32 as a float64: v, unless it is subnormal, which the device may take for 0.
func (t *translator) widenSubnormal(x, v spirv.ID) spirv.ID {
	bits := t.Value(spirv.OpBitcast, t.u32(), x)
	size := t.op(spirv.OpBitwiseAnd, ptx.U32, bits, t.word(1<<31-1))
	sign := t.op(spirv.OpBitwiseAnd, ptx.U32, bits, t.word(1<<31))
	tiny := t.op(spirv.OpFMul, ptx.F64, t.Value(spirv.OpConvertUToF, t.f64(), size), t.real(8, 0x1p-149))
	low, high := t.halves(t.Value(spirv.OpBitcast, t.u64(), tiny))
	tiny = t.Value(spirv.OpBitcast, t.f64(), t.join(low, t.op(spirv.OpBitwiseOr, ptx.U32, high, sign)))
	return t.choose(ptx.F64, t.test(spirv.OpULessThan, size, t.word(1<<23)), tiny, v)
}

// narrowToSubnormal returns a float64 as a float32: v, unless it is subnormal then, for which the device may return 0.
func (t *translator) narrowToSubnormal(x, v spirv.ID) spirv.ID {
	low, high := t.halves(t.Value(spirv.OpBitcast, t.u64(), x))
	sign := t.op(spirv.OpBitwiseAnd, ptx.U32, high, t.word(1<<31))
	size := t.Value(spirv.OpBitcast, t.f64(), t.join(low, t.op(spirv.OpBitwiseAnd, ptx.U32, high, t.word(1<<31-1))))
	small := t.test(spirv.OpFOrdLessThan, size, t.real(8, 0x1p-126))
	units := t.op(spirv.OpFMul, ptx.F64, t.choose(ptx.F64, small, size, t.real(8, 0)), t.real(8, 0x1p149))
	n := t.Value(spirv.OpConvertFToU, t.u32(), t.Extended(spirv.GLSLRoundEven, t.f64(), units))
	tiny := t.Value(spirv.OpBitcast, t.f32(), t.op(spirv.OpBitwiseOr, ptx.U32, n, sign))
	return t.choose(ptx.F32, small, tiny, v)
}

// toInteger converts a float to an integer: NaN to 0, and numbers out of range to the closest one.
func (t *translator) toInteger(to, from ptx.Type, x spirv.ID) spirv.ID {
	if !t.has("rzi") || to.Size() < 4 {
		t.fail("%s", t.in)
		return x
	}
	bits := 8 * to.Size()
	low, high := 0.0, math.Ldexp(1, bits)
	op, least, most := spirv.OpConvertFToU, uint64(0), uint64(1)<<(bits-1)<<1-1
	if to.Class() == ptx.Signed {
		low, high = -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)
		op, least, most = spirv.OpConvertFToS, 1<<(bits-1), 1<<(bits-1)-1
	}
	size := from.Size()
	inside := t.op(spirv.OpLogicalAnd, ptx.Pred, t.test(spirv.OpFOrdGreaterThan, x, t.real(size, low)), t.test(spirv.OpFOrdLessThan, x, t.real(size, high)))
	v := t.Value(op, t.unsigned(to.Size()), t.choose(from, inside, x, t.real(size, 0)))
	v = t.choose(to, t.test(spirv.OpFOrdGreaterThanEqual, x, t.real(size, high)), t.number(to.Size(), most), v)
	return t.choose(to, t.test(spirv.OpFOrdLessThanEqual, x, t.real(size, low)), t.number(to.Size(), least), v)
}

// fromInteger converts an integer to a float, rounded to nearest or up.
func (t *translator) fromInteger(to, from ptx.Type, x spirv.ID) spirv.ID {
	op := spirv.OpConvertUToF
	if from.Class() == ptx.Signed {
		op = spirv.OpConvertSToF
	}
	v := t.Value(op, t.float(to.Size()), x)
	if !t.has("rp") {
		t.rounded()
		return v
	}
	if to != ptx.F32 || from != ptx.U64 {
		t.fail("%s", t.in)
		return v
	}
	exact := t.choose(ptx.U64, t.test(spirv.OpFOrdLessThan, v, t.real(4, 1<<63*2)), t.Value(spirv.OpConvertFToU, t.u64(), v), t.wide(math.MaxUint64))
	bits := t.Value(spirv.OpBitcast, t.u32(), v)
	next := t.Value(spirv.OpBitcast, t.f32(), t.op(spirv.OpIAdd, ptx.U32, bits, t.word(1)))
	return t.choose(ptx.F32, t.test(spirv.OpULessThan, exact, x), next, v)
}

// fromHalf converts a float16 to a float32.
func (t *translator) fromHalf(to ptx.Type, x spirv.ID) {
	if to != ptx.F32 {
		t.fail("%s", t.in)
		return
	}
	pair := t.Extended(spirv.GLSLUnpackHalf2x16, t.Type(spirv.OpTypeVector, t.f32(), 2), x)
	t.result(ptx.F32, t.Value(spirv.OpCompositeExtract, t.f32(), pair, 0))
}

// half returns the bits of a float32 as a float16, rounded to nearest even. No operation of SPIR-V promises a rounding mode.
func (t *translator) half(x spirv.ID) spirv.ID {
	return t.narrowFloat(t.Value(spirv.OpBitcast, t.u32(), x), 5, 10)
}

// brainFloat returns the bits of a float32 as a bfloat16.
func (t *translator) brainFloat(bits spirv.ID) spirv.ID { return t.narrowFloat(bits, 8, 7) }

// narrowFloat rounds the bits of a float32 to a float of 16 bits with the given sizes of exponent and fraction.
func (t *translator) narrowFloat(bits spirv.ID, exponent, fraction int) spirv.ID {
	u := func(op spirv.Op, a, b spirv.ID) spirv.ID { return t.op(op, ptx.U32, a, b) }
	sign := u(spirv.OpBitwiseAnd, u(spirv.OpShiftRightLogical, bits, t.word(16)), t.word(0x8000))
	magnitude := u(spirv.OpBitwiseAnd, bits, t.word(0x7fffffff))
	drop := uint32(23 - fraction)
	// round returns v without n bits, rounded to nearest even.
	round := func(v, n spirv.ID) spirv.ID {
		odd := u(spirv.OpBitwiseAnd, u(spirv.OpShiftRightLogical, v, n), t.word(1))
		below := u(spirv.OpISub, u(spirv.OpShiftLeftLogical, t.word(1), u(spirv.OpISub, n, t.word(1))), t.word(1))
		return u(spirv.OpShiftRightLogical, u(spirv.OpIAdd, v, u(spirv.OpIAdd, below, odd)), n)
	}
	bias := uint32(1)<<(exponent-1) - 1
	infinite := (uint32(1)<<exponent - 1) << fraction
	v := round(magnitude, t.word(drop))
	if exponent < 8 {
		v = u(spirv.OpISub, v, t.word((127-bias)<<fraction))
		v = t.Extended(spirv.GLSLUMin, t.u32(), v, t.word(infinite))
		// Subnormal results lose further bits.
		power := u(spirv.OpShiftRightLogical, magnitude, t.word(23))
		lost := t.Extended(spirv.GLSLUMin, t.u32(), u(spirv.OpISub, t.word(drop+127-bias+1), power), t.word(25))
		full := u(spirv.OpBitwiseOr, u(spirv.OpBitwiseAnd, magnitude, t.word(0x7fffff)), t.word(0x800000))
		small := t.test(spirv.OpULessThanEqual, power, t.word(127-bias))
		v = t.choose(ptx.U32, small, round(full, t.choose(ptx.U32, small, lost, t.word(1))), v)
	}
	nan := t.test(spirv.OpUGreaterThan, magnitude, t.word(0x7f800000))
	return t.choose(ptx.U32, nan, t.word(0x7fff), u(spirv.OpBitwiseOr, sign, v))
}

// convertPair translates cvt to two floats of 16 bits; the first operand is the upper one.
func (t *translator) convertPair(to ptx.Type) {
	size := [2]int{5, 10}
	if to == ptx.BF16x2 {
		size = [2]int{8, 7}
	}
	high := t.narrowFloat(t.bits(t.in.Args[1], ptx.F32), size[0], size[1])
	low := t.narrowFloat(t.bits(t.in.Args[2], ptx.F32), size[0], size[1])
	t.result(ptx.B32, t.op(spirv.OpBitwiseOr, ptx.B32, t.op(spirv.OpShiftLeftLogical, ptx.B32, high, t.word(16)), low))
}
