package ptxspirv

import (
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// arg returns operand i of the instruction as a value of a type: a bool, an integer of 32 or 64 bits whose upper bits are undefined for
// narrower types, or a float.
func (t *translator) arg(i int, typ ptx.Type) spirv.ID {
	if i >= len(t.in.Args) {
		t.fail("%s has %d operands", t.in, len(t.in.Args))
		return t.word(0)
	}
	return t.operand(t.in.Args[i], typ)
}

func (t *translator) operand(o ptx.Operand, typ ptx.Type) spirv.ID {
	v := t.bits(o, typ)
	if typ.Class() == ptx.Float && typ.Size() >= 4 && typ != ptx.F16x2 && typ != ptx.BF16x2 {
		return t.Value(spirv.OpBitcast, t.float(typ.Size()), v)
	}
	return v
}

// bits returns an operand as an integer or a bool.
func (t *translator) bits(o ptx.Operand, typ ptx.Type) spirv.ID {
	switch o.Kind {
	case ptx.RegOperand:
		r := t.f.Regs[o.Reg].Type
		v := t.Value(spirv.OpLoad, t.register(r), t.registers[o.Reg])
		switch {
		case o.Negate:
			v = t.Value(spirv.OpLogicalNot, t.boolean(), v)
		case r != ptx.Pred && held(r) != held(typ):
			v = t.Value(spirv.OpUConvert, t.unsigned(held(typ)), v)
		}
		return v
	case ptx.SpecialOperand:
		return t.special(o.Name)
	case ptx.VarOperand:
		return t.variable(o, held(typ))
	}
	v, ok := o.As(typ)
	if !ok {
		t.fail("%s: an operand of an unknown kind", t.in)
	}
	if held(typ) == 4 {
		v = uint64(uint32(v)) // without the copies of the sign of a negative integer
	}
	if t.options.FoldsZeros && (isFloat(typ) || v == 1<<31 && typ.Size() == 4 || v == 1<<63) {
		return t.hidden(typ, v)
	}
	if typ == ptx.Pred {
		if v != 0 {
			return t.Global(spirv.OpConstantTrue, t.boolean())
		}
		return t.Global(spirv.OpConstantFalse, t.boolean())
	}
	return t.number(held(typ), v)
}

// variable returns the address of a variable in its space.
func (t *translator) variable(o ptx.Operand, size int) spirv.ID {
	at := t.number(size, t.addresses[o.Var]+o.Bits)
	switch {
	case o.Var.Space == ptx.Const || o.Var.Space == ptx.Global:
		return t.Value(spirv.OpIAdd, t.u64(), t.dataAddress(), at)
	case o.Var.Space == ptx.Shared && t.blockCount() > 1:
		return t.Value(spirv.OpIAdd, t.unsigned(size), t.widened(size, t.sharedOf(t.rank())), at)
	}
	return at
}

// special returns the value of a special register.
func (t *translator) special(name string) spirv.ID {
	base, axis, _ := strings.Cut(name, ".")
	at := strings.Index("xyz", axis)
	b := t.options.Block
	switch {
	case base == "%tid":
		return t.thread(at)
	case aboutCluster(base):
		return t.inGrid(base, at)
	case base == "%ntid":
		return t.word(uint32(b[at]))
	case name == "%dynamic_smem_size":
		return t.word(uint32(t.options.Shared))
	case name == "%laneid":
		return t.lane()
	case name == "%warpid":
		return t.Value(spirv.OpShiftRightLogical, t.u32(), t.linear(), t.word(5))
	}
	if relation, ok := strings.CutPrefix(name, "%lanemask_"); ok {
		return t.laneMask(relation)
	}
	t.fail("special register %s", name)
	return t.word(0)
}

// laneMask returns the lanes of the warp that are less than the thread's (lt), and so on.
func (t *translator) laneMask(relation string) spirv.ID {
	u := func(op spirv.Op, a, b spirv.ID) spirv.ID { return t.op(op, ptx.U32, a, b) }
	equal := u(spirv.OpShiftLeftLogical, t.word(1), t.lane())
	less := u(spirv.OpISub, equal, t.word(1))
	switch relation {
	case "eq":
		return equal
	case "lt":
		return less
	case "le":
		return u(spirv.OpBitwiseOr, less, equal)
	case "ne":
		return t.op(spirv.OpNot, ptx.U32, equal)
	case "ge":
		return t.op(spirv.OpNot, ptx.U32, less)
	}
	return t.op(spirv.OpNot, ptx.U32, u(spirv.OpBitwiseOr, less, equal))
}

// builtin returns a component of a built-in variable.
func (t *translator) builtin(which uint32, axis int) spirv.ID {
	v, ok := t.builtins[which]
	vector := t.Type(spirv.OpTypeVector, t.u32(), 3)
	if !ok {
		v = t.Variable(t.pointer(spirv.StorageInput, vector), spirv.StorageInput)
		t.Decorate(v, spirv.DecorationBuiltIn, which)
		t.builtins[which] = v
	}
	return t.Value(spirv.OpCompositeExtract, t.u32(), t.Value(spirv.OpLoad, vector, v), uint32(axis))
}

// linear returns the thread's number in its block.
func (t *translator) linear() spirv.ID {
	b := t.options.Block
	if t.blockCount() > 1 {
		return t.op(spirv.OpUMod, ptx.U32, t.index(), t.word(uint32(t.threads())))
	}
	sum := t.builtin(spirv.BuiltInLocalInvocationID, 0)
	for axis, stride := range []int{b[0], b[0] * b[1]} {
		if b[axis+1] > 1 {
			sum = t.op(spirv.OpIAdd, ptx.U32, sum, t.op(spirv.OpIMul, ptx.U32, t.builtin(spirv.BuiltInLocalInvocationID, axis+1), t.word(uint32(stride))))
		}
	}
	return sum
}

// op emits an operation on values of a type.
func (t *translator) op(op spirv.Op, typ ptx.Type, operands ...spirv.ID) spirv.ID {
	to := t.unsigned(held(typ))
	switch {
	case typ == ptx.Pred:
		to = t.boolean()
	case typ == ptx.F32 || typ == ptx.F64:
		to = t.float(typ.Size())
	}
	v := t.Value(op, to, operands...)
	if typ == ptx.F32 || typ == ptx.F64 {
		t.Decorate(v, spirv.DecorationNoContraction)
	}
	return v
}

// test emits a comparison.
func (t *translator) test(op spirv.Op, a, b spirv.ID) spirv.ID { return t.Value(op, t.boolean(), a, b) }

// choose returns a where a condition holds, else b.
func (t *translator) choose(typ ptx.Type, c, a, b spirv.ID) spirv.ID {
	to := t.unsigned(held(typ))
	if typ == ptx.F32 || typ == ptx.F64 {
		to = t.float(typ.Size())
	}
	return t.Value(spirv.OpSelect, to, c, a, b)
}

// result stores a value of a type in operand 0.
func (t *translator) result(typ ptx.Type, v spirv.ID) {
	if len(t.in.Args) > 0 {
		t.assign(t.in.Args[0], typ, v)
	}
}

// assign stores a value of a type in a register.
func (t *translator) assign(o ptx.Operand, typ ptx.Type, v spirv.ID) {
	if o.Kind == ptx.SinkOperand || t.err != nil {
		return
	}
	if o.Kind != ptx.RegOperand {
		t.fail("%s has no register for its result", t.in)
		return
	}
	r := t.f.Regs[o.Reg].Type
	if (typ == ptx.F32 || typ == ptx.F64) && r != ptx.Pred {
		v = t.Value(spirv.OpBitcast, t.unsigned(typ.Size()), v)
	}
	switch {
	case r == ptx.Pred:
	case held(r) != held(typ) && typ.Class() == ptx.Signed:
		v = t.Value(spirv.OpSConvert, t.unsigned(held(r)), v)
	case held(r) != held(typ):
		v = t.Value(spirv.OpUConvert, t.unsigned(held(r)), v)
	}
	t.Emit(spirv.OpStore, t.registers[o.Reg], v)
}

// trim returns an integer whose bits above those of a type are those of its class: zeros, or copies of the sign.
func (t *translator) trim(typ ptx.Type, v spirv.ID) spirv.ID {
	unused := uint32(8 * (held(typ) - typ.Size()))
	if unused == 0 {
		return v
	}
	if typ.Class() != ptx.Signed {
		return t.op(spirv.OpBitwiseAnd, typ, v, t.word(1<<(32-unused)-1))
	}
	v = t.op(spirv.OpShiftLeftLogical, typ, v, t.word(unused))
	return t.op(spirv.OpShiftRightArithmetic, typ, v, t.word(unused))
}

// hidden returns a constant that the device's compiler does not know: it would simplify an addition of 0 to nothing.
func (t *translator) hidden(typ ptx.Type, v uint64) spirv.ID {
	return t.opaque(typ, t.number(held(typ), v))
}

// becomesFloat returns the bits of a float that come from integers or from memory. A device's compiler that folds zeros does not know them, because it
// would if they were constants, or computed from the size of the block or from the first iteration of a loop.
func (t *translator) becomesFloat(typ ptx.Type, v spirv.ID) spirv.ID {
	if !t.options.FoldsZeros {
		return v
	}
	return t.opaque(typ, v)
}

// intoRegister is becomesFloat if the operand is a register for floats.
func (t *translator) intoRegister(o ptx.Operand, v spirv.ID) spirv.ID {
	if o.Kind != ptx.RegOperand || !isFloat(t.f.Regs[o.Reg].Type) {
		return v
	}
	return t.becomesFloat(t.f.Regs[o.Reg].Type, v)
}

// opaque returns a value in a form that the device's compiler cannot see through.
func (t *translator) opaque(typ ptx.Type, v spirv.ID) spirv.ID {
	zero := t.op(spirv.OpShiftRightLogical, ptx.U64, t.dataAddress(), t.word(63)) // no address has the upper bit
	if held(typ) == 4 {
		zero = t.op(spirv.OpUConvert, ptx.U32, zero)
	}
	return t.op(spirv.OpBitwiseXor, untyped(typ), zero, v)
}
