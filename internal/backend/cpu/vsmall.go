package cpu

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// An integer of 8 or 16 bits has a lane of 32 bits, or a register for integers where it is the same in all lanes. Its other bits
// are arbitrary: most operations give the right lower bits whatever they are. Operations whose result depends on them extend
// their operands first. Only loads leave a known extension.

// moves are the instructions that read an integer and extend it.
var moves = map[element]string{
	{1, false}: "MOVBLZX", {1, true}: "MOVBQSX", {2, false}: "MOVWLZX", {2, true}: "MOVWQSX", {4, false}: "MOVL", {8, false}: "MOVQ",
}

// elementOf returns how the load v reads memory: small integers with the extension that most of their users want.
func (z *vectorizer) elementOf(v *ir.Value) element {
	e := element{size: v.Type.Size()}
	if isSmall(v.Type) && len(z.users[v.ID]) > 0 {
		e.signed = !slices.ContainsFunc(z.users[v.ID], func(u *ir.Value) bool { return u.Op != ir.OpSExt && u.Op != ir.OpSToF })
	}
	return e
}

// isSmall reports whether t is an integer of 8 or 16 bits.
func isSmall(t *ir.Type) bool { return t.Kind == ir.KindI8 || t.Kind == ir.KindI16 }

// fullLanes returns the registers of v; a small integer is extended to 32 bits.
func (z *vectorizer) fullLanes(v *ir.Value, signed bool) [2]vreg {
	x := z.vectorOf(v)
	if !isSmall(v.Type) {
		return x
	}
	if v.Op == ir.OpConst {
		return twice(z.constant(extendedConstant(v, signed), false))
	}
	if v.Op == ir.OpLoad && z.shape(v).kind == varying && z.elementOf(v).signed == signed {
		return x
	}
	return [2]vreg{z.extendLanes(x[0], int64(v.Type.Bits()), signed)}
}

// extendedConstant returns the value of a constant with or without a sign.
func extendedConstant(v *ir.Value, signed bool) int64 {
	if signed {
		return truncated(v)
	}
	return truncated(v) & (1<<v.Type.Bits() - 1)
}

// extendLanes returns the lowest bits of each lane, extended.
func (z *vectorizer) extendLanes(x vreg, bits int64, signed bool) vreg {
	to := z.vector()
	if !signed {
		z.unit.binary(ir.OpAnd, pair{x, z.constant(1<<bits-1, false), to, false})
		return to
	}
	z.code.Op("VPSRAD", vasm.Imm(32-bits), vasm.Use(z.shifted("VPSLLD", 32-bits, x)), vasm.Def(to))
	return to
}

// small makes the value of v, of less than 32 bits, of the lanes of x.
func (z *vectorizer) small(v *ir.Value, x vreg, r *vector) {
	if v.Type.Kind == ir.KindI1 {
		z.unit.odd(x, r.reg[0])
	} else {
		z.code.Op("VMOVUPS", vasm.Use(x), vasm.Def(r.reg[0]))
	}
}

// stored returns the registers of a value as memory has it: a truth value is a byte.
func (z *vectorizer) stored(x [2]vreg, t *ir.Type) [2]vreg {
	if t.Kind != ir.KindI1 {
		return x
	}
	bytes := z.vector()
	z.unit.only(x[0], z.constant(1, false), bytes, false)
	return [2]vreg{bytes}
}

// gatherSmall reads elements of 1 or 2 bytes from the addresses in two wide vectors. It reads the aligned 4 bytes that an
// element lies in, which never reach into a page that the element is not in.
func (z *vectorizer) gatherSmall(at [2]vreg, e element) vreg {
	var aligned [2]vreg
	for i := range at {
		aligned[i] = z.vector()
		z.unit.binary(ir.OpAnd, pair{at[i], z.constant(^3, true), aligned[i], true})
	}
	x, shift := z.vector(), z.vector()
	z.unit.gather(aligned, z.activeMask(), [2]vreg{x}, false)
	z.unit.truncate(at[0], at[1], shift)
	z.unit.binary(ir.OpAnd, pair{shift, z.constant(3, false), shift, false})
	z.unit.binary(ir.OpLShr, pair{x, z.shifted("VPSLLD", 3, shift), x, false})
	return z.extendLanes(x, 8*e.size, e.signed)
}

