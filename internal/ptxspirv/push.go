package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// GPUs read push constants as fast as registers, but a parameter block in memory only after the latency of a load. So the push constants
// contain the block if it is small enough and the kernel only loads from it.

// pushParameters is where the parameter block, or its address, begins in the push constants.
const pushParameters = 8

// declarePush declares the push constants.
func (t *translator) declarePush() {
	after := t.u64()
	if n := t.pushableWords(); n > 0 {
		t.parameters = n
		after = t.Array(t.u32(), t.word(uint32(n)), 4)
	}
	block := t.Struct([]uint32{t.u64(), after}, []uint32{0, pushParameters})
	t.push = t.Variable(t.pointer(spirv.StoragePushConstant, block), spirv.StoragePushConstant)
}

// pushableWords returns the number of words of the parameter block if it can be in the push constants, or 0.
func (t *translator) pushableWords() int {
	if len(t.f.Params) != 1 {
		return 0
	}
	n := align(t.f.Params[0].Size(), 4)
	if pushParameters+n > t.options.Push {
		return 0
	}
	for i := range t.f.Code {
		if in := &t.f.Code[i]; in.Op != "ld" && slices.ContainsFunc(in.Args, namesParameter) {
			return 0
		}
	}
	return n / 4
}

// namesParameter reports whether an operand refers to a parameter.
func namesParameter(o ptx.Operand) bool {
	return o.Kind == ptx.VarOperand && o.Var.Space == ptx.Param || slices.ContainsFunc(o.Elems, namesParameter)
}

// dataAddress returns the address of the program's data, or 0 if it has none.
func (t *translator) dataAddress() spirv.ID { return t.pushed(t.u64(), 0) }

// parameterAddress returns the address of the parameter block, which is in memory.
func (t *translator) parameterAddress() spirv.ID { return t.pushed(t.u64(), 1) }

// pushed returns a push constant of a type.
func (t *translator) pushed(typ spirv.ID, path ...uint32) spirv.ID {
	operands := []spirv.ID{t.push}
	for _, i := range path {
		operands = append(operands, t.word(i))
	}
	return t.Value(spirv.OpLoad, typ, t.Value(spirv.OpAccessChain, t.pointer(spirv.StoragePushConstant, typ), operands...))
}

// pushedAt returns the offset in the parameter block to which an operand refers, if the block is in the push constants.
func (t *translator) pushedAt(o ptx.Operand) (int, bool) {
	if t.parameters == 0 || o.Kind != ptx.AddressOperand || !namesParameter(o) {
		return 0, false
	}
	return int(o.Elems[0].Bits + o.Bits), true
}

// parameter returns an element of a parameter block in the push constants. Its offset is a multiple of its size.
func (t *translator) parameter(at int, typ ptx.Type) spirv.ID {
	word := func(i int) spirv.ID { return t.pushed(t.u32(), 1, uint32(i)) }
	if typ.Size() == 8 {
		return t.join(word(at/4), word(at/4+1))
	}
	v := word(at / 4)
	if bit := 8 * (at % 4); bit > 0 {
		v = t.op(spirv.OpShiftRightLogical, ptx.U32, v, t.word(uint32(bit)))
	}
	return t.trim(plain(typ), v)
}
