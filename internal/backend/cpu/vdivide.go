package cpu

import (
	"math"

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
		q.reg = [2]vreg{z.vector()}
		if isWide(v.Type) {
			q.reg[1] = z.vector()
		}
	}
	if isWide(v.Type) {
		z.quotients64(v, x, y, q.reg)
	} else {
		z.quotients32(x[0], y[0], signed, q.reg[0])
	}
	if q.reg == r.reg {
		return
	}
	for i, to := range z.regs(r) {
		product := z.vector()
		z.unit.binary(ir.OpMul, pair{q.reg[i], y[i], product, isWide(v.Type)})
		z.unit.binary(ir.OpSub, pair{x[i], product, to, isWide(v.Type)})
	}
}

// quotients32 divides integers of 32 bits.
func (z *vectorizer) quotients32(x, y vreg, signed bool, to vreg) {
	n, d := z.unit.floats(x, signed), z.unit.floats(y, signed)
	z.unit.integers([2]vreg{z.two("VDIVPD", n[0], d[0]), z.two("VDIVPD", n[1], d[1])}, signed, to)
}

// quotients64 divides integers of 64 bits that are less than 2^51 in all lanes, and no less than -2^51. Where any is not, it
// leaves the row to Go.
func (z *vectorizer) quotients64(v *ir.Value, x, y, to [2]vreg) {
	if !z.replays && (z.touched[z.block.block.ID] || z.wrote) {
		panic(scalar("a 64-bit division after a store"))
	}
	z.bailUnlessShort(v, x, y)
	bits := z.constant(int64(math.Float64bits(shortOffset)), true)
	for i := range to {
		q := z.two("VDIVPD", z.shortFloat(x[i]), z.shortFloat(y[i]))
		z.unit.round(ir.OpFTrunc, q, q, true)
		z.unit.binary(ir.OpSub, pair{z.two("VADDPD", q, bits), bits, to[i], true})
	}
}

// shortOffset is added to integers from -2^51 to 2^51: the bits of the sum, a float of 64 bits, are those of shortOffset plus the
// integer.
const shortOffset = 1<<52 + 1<<51

// bailUnlessShort leaves the row to Go where an operand of v is too large for a float in a lane that runs.
func (z *vectorizer) bailUnlessShort(v *ir.Value, x, y [2]vreg) {
	bias, bits := int64(0), int64(51)
	if v.Op == ir.OpSDiv || v.Op == ir.OpSRem {
		bias, bits = 1<<51, 52
	}
	var rest [2]vreg
	for i := range rest {
		n, d, both := x[i], y[i], z.vector()
		if bias != 0 {
			n, d = z.two("VPADDQ", n, z.constant(bias, true)), z.two("VPADDQ", d, z.constant(bias, true))
		}
		z.unit.binary(ir.OpOr, pair{n, d, both, true})
		rest[i] = z.shifted("VPSRLQ", bits, both)
	}
	low, high, large := z.unit.mask(), z.unit.mask(), z.unit.mask()
	zero := z.constant(0, true)
	z.unit.compare(ir.OpNe, pair{rest[0], zero, low, true})
	z.unit.compare(ir.OpNe, pair{rest[1], zero, high, true})
	z.unit.join(low, high, large)
	if m := z.activeMask(); m != 0 {
		some := z.unit.mask()
		z.unit.logic(maskAnd, large, m, some)
		large = some
	}
	z.unit.test(large)
	z.code.Jump("JNE", z.bail)
}

// shortFloat converts an integer from -2^51 to 2^51 to a float.
func (z *vectorizer) shortFloat(x vreg) vreg {
	bits := z.constant(int64(math.Float64bits(shortOffset)), true)
	return z.two("VSUBPD", z.two("VPADDQ", x, bits), bits)
}
