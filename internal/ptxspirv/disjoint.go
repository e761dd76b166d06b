package ptxspirv

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// NVIDIA's compiler takes x<<8 | x>>8, of which 16 bits are stored, for an operation that reverses bytes, and computes it wrongly. The sum of the two is
// the same number, and its code is right.

// joinsBytes reports whether the instruction, an or, puts a byte below other bits.
func (t *translator) joinsBytes() bool {
	if typ := t.typ(0); typ == ptx.Pred || typ.Size() != 4 {
		return false
	}
	a, b := t.possible(t.in.Args[1], mostTraced), t.possible(t.in.Args[2], mostTraced)
	return a&b == 0 && min(a, b) <= 0xff
}

// mostTraced is the number of instructions through which possible follows an operand.
const mostTraced = 4

// possible returns the bits of a 32-bit operand that may be set.
func (t *translator) possible(o ptx.Operand, steps int) uint32 {
	const all = ^uint32(0)
	if v, ok := o.As(ptx.B32); ok {
		return uint32(v)
	}
	if o.Kind != ptx.RegOperand || steps == 0 {
		return all
	}
	in := t.definition(o.Reg)
	if in == nil || len(in.Mods) == 0 {
		return all
	}
	from := func(i int) uint32 { return t.possible(in.Args[i], steps-1) }
	typ, ok := ptx.ParseType(in.Mods[len(in.Mods)-1])
	switch {
	case !ok || len(in.Args) < 2:
	case in.Op == "ld" && typ.Class() != ptx.Signed && typ.Size() < 4:
		return 1<<(8*typ.Size()) - 1
	case typ.Size() != 4 || len(in.Args) < 3:
	case in.Op == "and":
		return from(1) & from(2)
	case in.Op == "or", in.Op == "xor":
		return from(1) | from(2)
	case in.Op == "shl", in.Op == "shr" && typ.Class() != ptx.Signed:
		n, ok := in.Args[2].As(ptx.U32)
		switch {
		case !ok:
		case in.Op == "shl":
			return from(1) << n
		default:
			return from(1) >> n
		}
	}
	return all
}

// definition returns the only instruction that sets a register, or nil if there are several or the instruction sets others, too.
func (t *translator) definition(r int) *ptx.Instr {
	if t.definitions == nil {
		t.definitions = make([]*ptx.Instr, len(t.f.Regs))
		several := make([]bool, len(t.f.Regs))
		for i := range t.f.Code {
			in := &t.f.Code[i]
			results(in, func(r int) {
				several[r] = several[r] || t.definitions[r] != nil || in.Args[0].Kind != ptx.RegOperand
				t.definitions[r] = in
			})
		}
		for r := range several {
			if several[r] {
				t.definitions[r] = nil
			}
		}
	}
	return t.definitions[r]
}
