package cpu

import (
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// nanBits are the bits of every NaN that a conversion to an F16 or a BF16 gives, as in package dtype.
const nanBits = 0x7fff

// convertSmall writes conversions from and to integers of 8 and 16 bits, some of which are the bits of floats.
func (z *vectorizer) convertSmall(v *ir.Value, r *vector) {
	a := v.Args[0]
	switch v.Op {
	case ir.OpTrunc:
		z.truncateSmall(a, r)
	case ir.OpSExt, ir.OpZExt:
		z.extendSmall(v, r)
	case ir.OpSToF, ir.OpUToF:
		z.smallToFloat(v, r)
	case ir.OpFToS, ir.OpFToU:
		z.floatToInteger(z.vectorOf(a), isWide(a.Type), r.reg[0])
	case ir.OpF16ToF:
		z.unit.fromF16(z.vectorOf(a)[0], r.reg[0])
	case ir.OpBF16ToF:
		z.code.Op("VPSLLD", vasm.Imm(16), vasm.Use(z.vectorOf(a)[0]), vasm.Def(r.reg[0]))
	case ir.OpFToF16:
		x, t := z.vectorOf(a)[0], z.vector()
		z.unit.toF16(x, t)
		z.unlessNaN(x, t, r.reg[0])
	case ir.OpFToBF16:
		z.toBF16(z.vectorOf(a)[0], r.reg[0])
	default:
		panic(scalar(words(v.Op) + " of an integer of 8 or 16 bits"))
	}
}

// floatToInteger truncates floats to integers of up to 32 bits with a sign, or of less without one.
func (z *vectorizer) floatToInteger(x [2]vreg, wide bool, to vreg) {
	if wide {
		z.unit.integers(x, true, to)
	} else {
		z.unit.integer(x[0], to, false)
	}
}

// truncateSmall takes the lowest bits of a: the others are arbitrary.
func (z *vectorizer) truncateSmall(a *ir.Value, r *vector) {
	x := z.vectorOf(a)
	if isWide(a.Type) {
		z.unit.truncate(x[0], x[1], r.reg[0])
	} else {
		z.code.Op("VMOVUPS", vasm.Use(x[0]), vasm.Def(r.reg[0]))
	}
}

// extendSmall extends an integer of 8 or 16 bits.
func (z *vectorizer) extendSmall(v *ir.Value, r *vector) {
	signed := v.Op == ir.OpSExt
	x := z.fullLanes(v.Args[0], signed)[0]
	switch {
	case !isWide(v.Type):
		z.code.Op("VMOVUPS", vasm.Use(x), vasm.Def(r.reg[0]))
	case signed:
		z.extend("VPMOVSXDQ", x, r.reg)
	default:
		z.extend("VPMOVZXDQ", x, r.reg)
	}
}

// smallToFloat converts an integer of 8 or 16 bits by way of one of 32, which has room for all of them with a sign.
func (z *vectorizer) smallToFloat(v *ir.Value, r *vector) {
	x := z.fullLanes(v.Args[0], v.Op == ir.OpSToF)[0]
	if isWide(v.Type) {
		z.extend("VCVTDQ2PD", x, r.reg)
	} else {
		z.code.Op("VCVTDQ2PS", vasm.Use(x), vasm.Def(r.reg[0]))
	}
}

// unlessNaN sets to to bits, but to a NaN's in the lanes in which the float x is one.
func (z *vectorizer) unlessNaN(x, bits, to vreg) {
	m := z.unit.mask()
	z.unit.compare(ir.OpFNe, pair{x, x, m, false})
	z.unit.blend(m, pair{z.constant(nanBits, false), bits, to, false})
}

// toBF16 rounds floats to nearest even: it adds just less than half of the last place, and the last bit that stays.
func (z *vectorizer) toBF16(x, to vreg) {
	last := z.vector()
	z.unit.binary(ir.OpAnd, pair{z.shifted("VPSRLD", 16, x), z.constant(1, false), last, false})
	sum := z.two("VPADDD", z.two("VPADDD", x, z.constant(0x7fff, false)), last)
	z.unlessNaN(x, z.shifted("VPSRLD", 16, sum), to)
}
