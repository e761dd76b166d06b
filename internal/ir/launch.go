package ir

// Launchable reports whether the launcher of a kernel can compute v: from arguments that it can compute, the number of
// blocks, that of threads of a block, and the parameters, all of them integers of 32 or 64 bits, or conditions.
func (v *Value) Launchable() bool {
	switch v.Op {
	case OpParam, OpConst, OpNCtaid, OpNTid, OpSelect, OpTrunc, OpSExt, OpZExt,
		OpAdd, OpSub, OpMul, OpAnd, OpOr, OpXor, OpEq, OpNe, OpSLt, OpSLe, OpULt, OpULe:
	case OpBitcast:
		return v.Type.Kind == KindI64 && v.Args[0].Op == OpParam
	case OpShl, OpLShr:
		if v.Args[1].Op != OpConst {
			return false
		}
	default:
		return false
	}
	if !launchableType(v) || v.Op == OpSExt && v.Args[0].Type.Bits() == 1 {
		return false
	}
	for _, a := range v.Args {
		if !launchableType(a) {
			return false
		}
	}
	return true
}

func launchableType(v *Value) bool {
	switch v.Type.Kind {
	case KindI1:
		return v.Op != OpParam && v.Op != OpTrunc // comparisons, and what they are combined to
	case KindI32, KindI64:
		return true
	case KindPtr:
		return v.Op == OpParam
	}
	return false
}

// launchBlock checks a block that launchers run: it is the first, they can compute its values, and the last of these, a condition,
// is the only one that other blocks use.
func (c *checker) launchBlock(b *Block) {
	if b != c.f.Blocks[0] || len(b.Values) < 2 || b.Term().Op != OpJump {
		c.failBlock(b, "is no block that a launcher can run")
		return
	}
	values := b.Values[:len(b.Values)-1]
	for _, v := range values {
		if !v.Launchable() {
			c.fail(v, "cannot be computed by a launcher")
		}
	}
	if last := values[len(values)-1]; last.Type.Kind != KindI1 {
		c.fail(last, "is no condition")
	}
}
