package ptxspirv

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// fused returns a*b+c, rounded once. SPIR-V lets Fma round twice, so it is used only on devices that do not.
func (t *translator) fused(typ ptx.Type, a, b, c spirv.ID) spirv.ID {
	switch {
	case t.options.Fused:
		return t.Extended(spirv.GLSLFma, t.float(typ.Size()), a, b, c)
	case typ == ptx.F32:
		return t.fusedSingle(a, b, c)
	}
	return t.fusedDouble(a, b, c)
}

func (t *translator) add(a, b spirv.ID) spirv.ID      { return t.op(spirv.OpFAdd, ptx.F64, a, b) }
func (t *translator) subtract(a, b spirv.ID) spirv.ID { return t.op(spirv.OpFSub, ptx.F64, a, b) }
func (t *translator) times(a, b spirv.ID) spirv.ID    { return t.op(spirv.OpFMul, ptx.F64, a, b) }

// fusedSingle computes in float64, in which the product is exact. The sum is rounded to odd, so that rounding it to float32 is right.
func (t *translator) fusedSingle(a, b, c spirv.ID) spirv.ID {
	wide := func(v spirv.ID) spirv.ID { return t.op(spirv.OpFConvert, ptx.F64, v) }
	sum, low := t.twoSum(t.times(wide(a), wide(b)), wide(c))
	return t.op(spirv.OpFConvert, ptx.F32, t.odd(sum, low))
}

// fusedDouble computes with pairs of float64 (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums"). It first scales numbers
// so large or so small that a part of the product could overflow or be subnormal.
func (t *translator) fusedDouble(a, b, c spirv.ID) spirv.ID {
	const least, most = 0x1p-900, 0x1p1000
	product, size := t.magnitude(t.times(a, b)), t.magnitude(c)
	both := func(join, relation spirv.Op, limit float64) spirv.ID {
		return t.op(join, ptx.Pred, t.test(relation, product, t.real(8, limit)), t.test(relation, size, t.real(8, limit)))
	}
	small, large := both(spirv.OpLogicalAnd, spirv.OpFOrdLessThan, least), both(spirv.OpLogicalOr, spirv.OpFOrdGreaterThan, most)
	scale := func(up, down float64) spirv.ID {
		return t.choose(ptx.F64, small, t.real(8, up), t.choose(ptx.F64, large, t.real(8, down), t.real(8, 1)))
	}
	factor, back := scale(0x1p300, 0x1p-520), scale(0x1p-300, 0x1p520)
	c = t.choose(ptx.F64, large, t.visible(c), c)
	scaled := func(v spirv.ID) spirv.ID { return t.times(t.times(v, factor), factor) }
	// The smaller factor of a small product is scaled, and the larger factor of a large one.
	first := t.test(spirv.OpLogicalEqual, t.test(spirv.OpFOrdLessThan, t.magnitude(a), t.magnitude(b)), small)
	a, b, c = t.choose(ptx.F64, first, scaled(a), a), t.choose(ptx.F64, first, b, scaled(b)), scaled(c)

	high, low := t.twoProduct(a, b)
	upper, rest := t.twoSum(c, low)
	sum, left := t.twoSum(high, upper)
	rest = t.odd(t.twoSum(rest, left))
	exact := t.add(sum, rest)
	usual := t.test(spirv.OpFOrdNotEqual, exact, t.real(8, 0))
	v := t.choose(ptx.F64, usual, exact, t.add(high, c)) // which is right if it is infinite, NaN or a zero with a sign
	tiny := t.op(spirv.OpLogicalAnd, ptx.Pred, small, t.test(spirv.OpFOrdLessThan, t.magnitude(sum), t.real(8, 0x1p-422)))
	tiny = t.op(spirv.OpLogicalAnd, ptx.Pred, tiny, usual)
	return t.choose(ptx.F64, tiny, t.subnormal(sum, rest), t.times(t.times(v, back), back))
}

// magnitude returns the absolute value of a float64.
func (t *translator) magnitude(v spirv.ID) spirv.ID {
	return t.Value(spirv.OpBitcast, t.f64(), t.op(spirv.OpBitwiseAnd, ptx.U64, t.Value(spirv.OpBitcast, t.u64(), v), t.wide(1<<63-1)))
}

// withSign returns the bits of a float64 with the sign of another one.
func (t *translator) withSign(bits, of spirv.ID) spirv.ID {
	sign := t.op(spirv.OpBitwiseAnd, ptx.U64, t.Value(spirv.OpBitcast, t.u64(), of), t.wide(1<<63))
	return t.Value(spirv.OpBitcast, t.f64(), t.op(spirv.OpBitwiseOr, ptx.U64, bits, sign))
}

// visible returns a number that is to be added to a large one. It makes one so small that scaling could make it 0 larger: of such a number,
// only the sign matters.
func (t *translator) visible(c spirv.ID) spirv.ID {
	size := t.magnitude(c)
	small := t.op(spirv.OpLogicalAnd, ptx.Pred, t.test(spirv.OpFOrdGreaterThan, size, t.real(8, 0)), t.test(spirv.OpFOrdLessThan, size, t.real(8, 0x1p-30)))
	return t.choose(ptx.F64, small, t.withSign(t.Value(spirv.OpBitcast, t.u64(), t.real(8, 0x1p-30)), c), c)
}

// subnormal returns sum+rest divided by 2^600, rounded once to a subnormal number. The rest is less than a quarter of its last place.
func (t *translator) subnormal(sum, rest spirv.ID) spirv.ID {
	units := t.times(sum, t.real(8, 0x1p474))
	n := t.Extended(spirv.GLSLRoundEven, t.f64(), units)
	left := t.subtract(units, n)
	tie := t.test(spirv.OpFOrdEqual, t.magnitude(left), t.real(8, 0.5))
	beyond := t.test(spirv.OpFOrdGreaterThan, t.times(left, t.withSign(t.Value(spirv.OpBitcast, t.u64(), t.real(8, 1)), rest)), t.real(8, 0))
	beyond = t.op(spirv.OpLogicalAnd, ptx.Pred, beyond, t.test(spirv.OpFOrdNotEqual, rest, t.real(8, 0)))
	n = t.choose(ptx.F64, t.op(spirv.OpLogicalAnd, ptx.Pred, tie, beyond), t.add(n, t.add(left, left)), n)
	return t.withSign(t.Value(spirv.OpConvertFToU, t.u64(), t.magnitude(n)), sum)
}

// twoSum returns the rounded sum of two float64 and its error (Knuth).
func (t *translator) twoSum(a, b spirv.ID) (sum, low spirv.ID) {
	sum = t.add(a, b)
	x := t.subtract(sum, a)
	return sum, t.add(t.subtract(a, t.subtract(sum, x)), t.subtract(b, x))
}

// twoProduct returns the rounded product of two float64 and its error (Dekker).
func (t *translator) twoProduct(a, b spirv.ID) (product, low spirv.ID) {
	split := func(v spirv.ID) (high, low spirv.ID) { // by bits, so that nothing overflows
		bits := t.Value(spirv.OpBitcast, t.u64(), v)
		high = t.Value(spirv.OpBitcast, t.f64(), t.op(spirv.OpBitwiseAnd, ptx.U64, bits, t.wide(^uint64(1<<27-1))))
		return high, t.subtract(v, high)
	}
	product = t.times(a, b)
	ah, al := split(a)
	bh, bl := split(b)
	low = t.subtract(t.times(ah, bh), product)
	low = t.add(t.add(low, t.times(ah, bl)), t.times(al, bh))
	return product, t.add(low, t.times(al, bl))
}

// odd returns sum with an odd last bit if its error is not 0: sum+low, rounded to odd.
func (t *translator) odd(sum, low spirv.ID) spirv.ID {
	bits := t.Value(spirv.OpBitcast, t.u64(), sum)
	even := t.test(spirv.OpIEqual, t.op(spirv.OpBitwiseAnd, ptx.U64, bits, t.wide(1)), t.wide(0))
	inexact := t.test(spirv.OpFOrdNotEqual, low, t.real(8, 0))
	outwards := t.test(spirv.OpLogicalEqual, t.test(spirv.OpFOrdGreaterThan, low, t.real(8, 0)), t.test(spirv.OpFOrdGreaterThan, sum, t.real(8, 0)))
	step := t.choose(ptx.U64, outwards, t.wide(1), t.wide(^uint64(0)))
	moved := t.op(spirv.OpIAdd, ptx.U64, bits, step)
	v := t.choose(ptx.U64, t.op(spirv.OpLogicalAnd, ptx.Pred, even, inexact), moved, bits)
	return t.Value(spirv.OpBitcast, t.f64(), v)
}
