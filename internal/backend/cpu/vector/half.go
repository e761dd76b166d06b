package vector

import (
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/units"
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
		z.floatToInteger(z.vectorOf(a), units.IsWide(a.Type), r.reg[0])
	case ir.OpF16ToF:
		z.Unit.FromF16(z.vectorOf(a)[0], r.reg[0])
	case ir.OpBF16ToF:
		z.Code.Op("VPSLLD", vasm.Imm(16), vasm.Use(z.vectorOf(a)[0]), vasm.Def(r.reg[0]))
	case ir.OpFToF16:
		x, t := z.vectorOf(a)[0], z.Vector()
		z.Unit.ToF16(x, t)
		z.unlessNaN(x, t, r.reg[0])
	case ir.OpFToBF16:
		z.toBF16(z.vectorOf(a)[0], r.reg[0])
	default:
		panic(Because(words(v.Op) + " of an integer of 8 or 16 bits"))
	}
}

// floatToInteger truncates floats to integers of up to 32 bits with a sign, or of less without one.
func (z *vectorizer) floatToInteger(x [2]units.Vreg, wide bool, to units.Vreg) {
	if wide {
		z.Unit.Integers(x, true, to)
	} else {
		z.Unit.Integer(x[0], to, false)
	}
}

// truncateSmall takes the lowest bits of a: the others are arbitrary.
func (z *vectorizer) truncateSmall(a *ir.Value, r *vector) {
	x := z.vectorOf(a)
	if units.IsWide(a.Type) {
		z.Unit.Truncate(x[0], x[1], r.reg[0])
	} else {
		z.Code.Op("VMOVUPS", vasm.Use(x[0]), vasm.Def(r.reg[0]))
	}
}

// extendSmall extends an integer of 8 or 16 bits.
func (z *vectorizer) extendSmall(v *ir.Value, r *vector) {
	signed := v.Op == ir.OpSExt
	x := z.fullLanes(v.Args[0], signed)[0]
	switch {
	case !units.IsWide(v.Type):
		z.Code.Op("VMOVUPS", vasm.Use(x), vasm.Def(r.reg[0]))
	case signed:
		z.Extend("VPMOVSXDQ", x, r.reg)
	default:
		z.Extend("VPMOVZXDQ", x, r.reg)
	}
}

// smallToFloat converts an integer of 8 or 16 bits by way of one of 32, which has room for all of them with a sign.
func (z *vectorizer) smallToFloat(v *ir.Value, r *vector) {
	x := z.fullLanes(v.Args[0], v.Op == ir.OpSToF)[0]
	if units.IsWide(v.Type) {
		z.Extend("VCVTDQ2PD", x, r.reg)
	} else {
		z.Code.Op("VCVTDQ2PS", vasm.Use(x), vasm.Def(r.reg[0]))
	}
}

// unlessNaN sets to to bits, but to a NaN's in the lanes in which the float x is one.
func (z *vectorizer) unlessNaN(x, bits, to units.Vreg) {
	m := z.Unit.Mask()
	z.Unit.Compare(ir.OpFNe, units.Pair{X: x, Y: x, To: m, Wide: false})
	z.Unit.Blend(m, units.Pair{X: z.Constant(nanBits, false), Y: bits, To: to, Wide: false})
}

// toBF16 rounds floats to nearest even: it adds just less than half of the last place, and the last bit that stays.
func (z *vectorizer) toBF16(x, to units.Vreg) {
	last := z.Vector()
	z.Unit.Binary(ir.OpAnd, units.Pair{X: z.Shifted("VPSRLD", 16, x), Y: z.Constant(1, false), To: last, Wide: false})
	sum := z.Two("VPADDD", z.Two("VPADDD", x, z.Constant(0x7fff, false)), last)
	z.unlessNaN(x, z.Shifted("VPSRLD", 16, sum), to)
}
