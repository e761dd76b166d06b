package vector

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/units"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Integers are divided as floats of 64 bits, which represent all integers up to 2^53. The truncated quotient of two such
// integers x and y is exact: x/y is at least 1/y below the next integer, and rounding moves it by less than that.

// isDivision reports whether op divides integers.
func isDivision(op ir.Op) bool {
	return op == ir.OpSDiv || op == ir.OpUDiv || op == ir.OpSRem || op == ir.OpURem
}

// divideLanes writes a quotient or a remainder. A division by zero gives any number.
func (z *vectorizer) divideLanes(v *ir.Value, r *vector) {
	signed := v.Op == ir.OpSDiv || v.Op == ir.OpSRem
	x, y := z.fullLanes(v.Args[0], signed), z.fullLanes(v.Args[1], signed)
	q := *r
	if v.Op == ir.OpSRem || v.Op == ir.OpURem {
		q.reg = [2]units.Vreg{z.Vector()}
		if units.IsWide(v.Type) {
			q.reg[1] = z.Vector()
		}
	}
	if units.IsWide(v.Type) {
		z.quotients64(v, x, y, q.reg)
	} else {
		z.quotients32(x[0], y[0], signed, q.reg[0])
	}
	if q.reg == r.reg {
		return
	}
	for i, to := range z.regs(r) {
		product := z.Vector()
		z.Unit.Binary(ir.OpMul, units.Pair{X: q.reg[i], Y: y[i], To: product, Wide: units.IsWide(v.Type)})
		z.Unit.Binary(ir.OpSub, units.Pair{X: x[i], Y: product, To: to, Wide: units.IsWide(v.Type)})
	}
}

// quotients32 divides integers of 32 bits.
func (z *vectorizer) quotients32(x, y units.Vreg, signed bool, to units.Vreg) {
	n, d := z.Unit.Floats(x, signed), z.Unit.Floats(y, signed)
	z.Unit.Integers([2]units.Vreg{z.Two("VDIVPD", n[0], d[0]), z.Two("VDIVPD", n[1], d[1])}, signed, to)
}

// quotients64 divides integers of 64 bits that are less than 2^51 in all lanes, and no less than -2^51. Where any is not, it
// leaves the row to Go.
func (z *vectorizer) quotients64(v *ir.Value, x, y, to [2]units.Vreg) {
	if !z.replays && (z.touched[z.block.Block.ID] || z.wrote) {
		panic(Because("a 64-bit division after a store"))
	}
	z.bailUnlessShort(v, x, y)
	bits := z.Constant(int64(math.Float64bits(shortOffset)), true)
	for i := range to {
		q := z.Two("VDIVPD", z.shortFloat(x[i]), z.shortFloat(y[i]))
		z.Unit.Round(ir.OpFTrunc, q, q, true)
		z.Unit.Binary(ir.OpSub, units.Pair{X: z.Two("VADDPD", q, bits), Y: bits, To: to[i], Wide: true})
	}
}

// shortOffset is added to integers from -2^51 to 2^51: the bits of the sum, a float of 64 bits, are those of shortOffset plus the
// integer.
const shortOffset = 1<<52 + 1<<51

// bailUnlessShort leaves the row to Go where an operand of v is too large for a float in a lane that runs.
func (z *vectorizer) bailUnlessShort(v *ir.Value, x, y [2]units.Vreg) {
	bias, bits := int64(0), int64(51)
	if v.Op == ir.OpSDiv || v.Op == ir.OpSRem {
		bias, bits = 1<<51, 52
	}
	var rest [2]units.Vreg
	for i := range rest {
		n, d, both := x[i], y[i], z.Vector()
		if bias != 0 {
			n, d = z.Two("VPADDQ", n, z.Constant(bias, true)), z.Two("VPADDQ", d, z.Constant(bias, true))
		}
		z.Unit.Binary(ir.OpOr, units.Pair{X: n, Y: d, To: both, Wide: true})
		rest[i] = z.Shifted("VPSRLQ", bits, both)
	}
	low, high, large := z.Unit.Mask(), z.Unit.Mask(), z.Unit.Mask()
	zero := z.Constant(0, true)
	z.Unit.Compare(ir.OpNe, units.Pair{X: rest[0], Y: zero, To: low, Wide: true})
	z.Unit.Compare(ir.OpNe, units.Pair{X: rest[1], Y: zero, To: high, Wide: true})
	z.Unit.Join(low, high, large)
	if m := z.activeMask(); m != 0 {
		some := z.Unit.Mask()
		z.Unit.Logic(units.MaskAnd, large, m, some)
		large = some
	}
	z.Unit.Test(large)
	z.Code.Jump("JNE", z.bail)
}

// shortFloat converts an integer from -2^51 to 2^51 to a float.
func (z *vectorizer) shortFloat(x units.Vreg) units.Vreg {
	bits := z.Constant(int64(math.Float64bits(shortOffset)), true)
	return z.Two("VSUBPD", z.Two("VPADDQ", x, bits), bits)
}
