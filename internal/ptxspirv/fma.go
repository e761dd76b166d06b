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

// fusedDouble computes with pairs of float64 (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums"). The result may be
// wrong if the product or a part of it overflows or is subnormal.
func (t *translator) fusedDouble(a, b, c spirv.ID) spirv.ID {
	high, low := t.twoProduct(a, b)
	upper, rest := t.twoSum(c, low)
	sum, left := t.twoSum(high, upper)
	part, tiny := t.twoSum(rest, left)
	exact := t.add(sum, t.odd(part, tiny))
	plain := t.add(high, c) // which is right if it is infinite, NaN or a zero with a sign
	usual := t.test(spirv.OpFOrdNotEqual, exact, t.real(8, 0))
	return t.choose(ptx.F64, usual, exact, plain)
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
