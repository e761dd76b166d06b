package vector

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/units"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// An integer of 8 or 16 bits has a lane of 32 bits, or a register for integers where it is the same in all lanes. Its other bits
// are arbitrary: most operations give the right lower bits whatever they are. Operations whose result depends on them extend
// their operands first. Only loads leave a known extension.

// moves are the instructions that read an integer and extend it.
var moves = map[units.Element]string{
	{Size: 1, Signed: false}: "MOVBLZX", {Size: 1, Signed: true}: "MOVBQSX", {Size: 2, Signed: false}: "MOVWLZX", {Size: 2, Signed: true}: "MOVWQSX", {Size: 4, Signed: false}: "MOVL", {Size: 8, Signed: false}: "MOVQ",
}

// elementOf returns how the load v reads memory: small integers with the extension that most of their users want.
func (z *vectorizer) elementOf(v *ir.Value) units.Element {
	e := units.Element{Size: v.Type.Size()}
	if isSmall(v.Type) && len(z.Users[v.ID]) > 0 {
		e.Signed = !slices.ContainsFunc(z.Users[v.ID], func(u *ir.Value) bool { return u.Op != ir.OpSExt && u.Op != ir.OpSToF })
	}
	return e
}

// isSmall reports whether t is an integer of 8 or 16 bits.
func isSmall(t *ir.Type) bool { return t.Kind == ir.KindI8 || t.Kind == ir.KindI16 }

// fullLanes returns the registers of v; a small integer is extended to 32 bits.
func (z *vectorizer) fullLanes(v *ir.Value, signed bool) [2]units.Vreg {
	x := z.vectorOf(v)
	if !isSmall(v.Type) {
		return x
	}
	if v.Op == ir.OpConst {
		return twice(z.Constant(extendedConstant(v, signed), false))
	}
	if v.Op == ir.OpLoad && z.shape(v).kind == varying && z.elementOf(v).Signed == signed {
		return x
	}
	return [2]units.Vreg{z.extendLanes(x[0], int64(v.Type.Bits()), signed)}
}

// extendedConstant returns the value of a constant with or without a sign.
func extendedConstant(v *ir.Value, signed bool) int64 {
	if signed {
		return layout.Truncated(v)
	}
	return layout.Truncated(v) & (1<<v.Type.Bits() - 1)
}

// extendLanes returns the lowest bits of each lane, extended.
func (z *vectorizer) extendLanes(x units.Vreg, bits int64, signed bool) units.Vreg {
	to := z.Vector()
	if !signed {
		z.Unit.Binary(ir.OpAnd, units.Pair{X: x, Y: z.Constant(1<<bits-1, false), To: to, Wide: false})
		return to
	}
	z.Code.Op("VPSRAD", vasm.Imm(32-bits), vasm.Use(z.Shifted("VPSLLD", 32-bits, x)), vasm.Def(to))
	return to
}

// small makes the value of v, of less than 32 bits, of the lanes of x.
func (z *vectorizer) small(v *ir.Value, x units.Vreg, r *vector) {
	if v.Type.Kind == ir.KindI1 {
		z.Unit.Odd(x, r.reg[0])
	} else {
		z.Code.Op("VMOVUPS", vasm.Use(x), vasm.Def(r.reg[0]))
	}
}

// stored returns the registers of a value as memory has it: a truth value is a byte.
func (z *vectorizer) stored(x [2]units.Vreg, t *ir.Type) [2]units.Vreg {
	if t.Kind != ir.KindI1 {
		return x
	}
	bytes := z.Vector()
	z.Unit.Only(x[0], z.Constant(1, false), bytes, false)
	return [2]units.Vreg{bytes}
}

// gatherSmall reads elements of 1 or 2 bytes from the addresses in two wide vectors. It reads the aligned 4 bytes that an
// element lies in, which never reach into a page that the element is not in.
func (z *vectorizer) gatherSmall(at [2]units.Vreg, e units.Element) units.Vreg {
	var aligned [2]units.Vreg
	for i := range at {
		aligned[i] = z.Vector()
		z.Unit.Binary(ir.OpAnd, units.Pair{X: at[i], Y: z.Constant(^3, true), To: aligned[i], Wide: true})
	}
	x, shift := z.Vector(), z.Vector()
	z.Unit.Gather(aligned, z.activeMask(), [2]units.Vreg{x}, false)
	z.Unit.Truncate(at[0], at[1], shift)
	z.Unit.Binary(ir.OpAnd, units.Pair{X: shift, Y: z.Constant(3, false), To: shift, Wide: false})
	z.Unit.Binary(ir.OpLShr, units.Pair{X: x, Y: z.Shifted("VPSLLD", 3, shift), To: x, Wide: false})
	return z.extendLanes(x, 8*e.Size, e.Signed)
}
