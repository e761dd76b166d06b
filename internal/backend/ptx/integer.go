package ptx

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// intOp describes how an integer operation is done in 32 or 64 bits, and what a narrower type
// adds to that: its arguments extended by their sign, its result cut to the width.
type intOp struct {
	name   string // after it comes 32 or 64
	signed bool
	cut    bool
}

// intOps by operation. PTX clamps shift counts to the register's width (ISA, shl and shr), as
// the IR wants them; for narrow types the rest follows from zeros or signs above the width.
// div.s32 of the smallest number by -1 wraps, as the magnitudes are divided without sign.
var intOps = [...]intOp{
	ir.OpAdd:  {name: "add.s", cut: true},
	ir.OpSub:  {name: "sub.s", cut: true},
	ir.OpMul:  {name: "mul.lo.s", cut: true},
	ir.OpSDiv: {name: "div.s", signed: true, cut: true},
	ir.OpUDiv: {name: "div.u"},
	ir.OpSRem: {name: "rem.s", signed: true, cut: true},
	ir.OpURem: {name: "rem.u"},
	ir.OpAnd:  {name: "and.b"},
	ir.OpOr:   {name: "or.b"},
	ir.OpXor:  {name: "xor.b"},
	ir.OpShl:  {name: "shl.b", cut: true},
	ir.OpLShr: {name: "shr.u"},
	ir.OpAShr: {name: "shr.s", signed: true, cut: true},
}

// integer selects an operation on integers.
func (s *selector) integer(v *ir.Value) operand {
	if v.Type.Kind == ir.KindI1 {
		if o, ok := s.boolean(v); ok {
			return o
		}
	}
	switch v.Op {
	case ir.OpSMulHi, ir.OpUMulHi:
		return s.mulHi(v)
	case ir.OpPopc, ir.OpClz, ir.OpBrev:
		return s.count(v)
	case ir.OpSDiv, ir.OpUDiv, ir.OpSRem, ir.OpURem:
		if v.Type.Kind == ir.KindI64 {
			return s.divide(v)
		}
	case ir.OpAdd:
		if o, ok := s.mulAdd(v); ok {
			return o
		}
	case ir.OpOr:
		if o, ok := s.pairOfHalves(v); ok {
			return o
		}
	case ir.OpMul, ir.OpShl:
		if x, y, op, ok := s.wideFactors(v); ok {
			return s.def(b64, "mul.wide"+op, x, y)
		}
	}
	op := intOps[v.Op]
	if !narrow(v.Type) {
		return s.def(classOf(v.Type), op.name+regBits(v.Type), s.operand(v.Args[0]), s.operand(v.Args[1]))
	}
	x, y := s.extended(v.Args[0], op.signed), s.operand(v.Args[1])
	if v.Op < ir.OpShl || v.Op > ir.OpAShr {
		y = s.extended(v.Args[1], op.signed)
	}
	o := s.def(b32, op.name+"32", x, y)
	if op.cut && !s.onlyStored(v) || v.Type.Kind == ir.KindI1 {
		o = s.cut(v.Type, o)
	}
	return o
}

// extended returns an integer of at most 32 bits as a number of 32 bits.
func (s *selector) extended(v *ir.Value, signed bool) operand {
	o := s.operand(v)
	if c, ok := s.constant(v); ok && signed {
		return imm(c)
	}
	if v.Type.Kind == ir.KindI1 {
		one := int64(1)
		if signed {
			one = -1
		}
		return s.def(b32, "selp.b32", imm(one), imm(0), s.inReg(pred, o))
	}
	if !signed || !narrow(v.Type) || o.reg == 0 {
		return o
	}
	return s.def(b32, fmt.Sprintf("cvt.s32.s%d", v.Type.Bits()), o)
}

// cut turns a number of 32 bits into the form that type t has in registers.
func (s *selector) cut(t *ir.Type, o operand) operand {
	if !narrow(t) {
		return o
	}
	o = s.def(b32, "and.b32", o, imm(mask(t)))
	if t.Kind == ir.KindI1 {
		o = s.def(pred, "setp.ne.u32", o, imm(0))
	}
	return o
}

// onlyStored reports whether v is used by stores alone, which ignore the bits above its width.
func (s *selector) onlyStored(v *ir.Value) bool {
	if v.Type.Kind == ir.KindI1 {
		return false
	}
	n := 0
	for _, u := range v.Block.Values {
		if u.Op == ir.OpStore && u.Args[1] == v {
			n++
		}
	}
	return n == s.used[v.ID]
}

// factors returns x and y where v is x*y, or x shifted by a constant.
func (s *selector) factors(v *ir.Value) (x, y *ir.Value, ok bool) {
	switch v.Op {
	case ir.OpMul:
		x, y = v.Args[0], v.Args[1]
		if _, ok := s.constant(x); ok {
			x, y = y, x
		}
		return x, y, true
	case ir.OpShl:
		if n, ok := s.constant(v.Args[1]); ok && n >= 0 && n < 31 && !narrow(v.Type) {
			return v.Args[0], &ir.Value{Op: ir.OpConst, Type: v.Type, Imm: 1 << n}, true
		}
	}
	return nil, nil, false
}

// wideFactors finds that a product of 64 bits is one of two factors of 32 bits, for
// mul.wide and mad.wide.
func (s *selector) wideFactors(v *ir.Value) (x, y operand, op string, ok bool) {
	if v.Type.Kind != ir.KindI64 {
		return x, y, "", false
	}
	a, b, ok := s.factors(v)
	if !ok {
		return x, y, "", false
	}
	if _, both := s.constant(a); both {
		return x, y, "", false
	}
	for _, signed := range [...]bool{false, true} {
		x, okX := s.factor(a, signed)
		y, okY := s.factor(b, signed)
		if okX && okY {
			return x, y, map[bool]string{false: ".u32", true: ".s32"}[signed], true
		}
	}
	return x, y, "", false
}

// factor returns a number of 32 bits, with or without sign, that is equal to v of 64 bits.
func (s *selector) factor(v *ir.Value, signed bool) (operand, bool) {
	if c, ok := s.constant(v); ok {
		if signed {
			return imm(c), c == int64(int32(c))
		}
		return imm(c), c == int64(uint32(c))
	}
	from := ir.OpZExt
	if signed {
		from = ir.OpSExt
	}
	if v.Op == from && v.Args[0].Type.Kind != ir.KindI1 {
		return s.extended(v.Args[0], signed), true
	}
	if v.Op == ir.OpZExt && narrow(v.Args[0].Type) && v.Args[0].Type.Kind != ir.KindI1 {
		return s.extended(v.Args[0], false), true // fits with a sign too
	}
	return operand{}, false
}

// mulAdd makes one instruction of a sum and a product that nothing else uses. A shift of 64
// bits is left alone: ptxas makes two instructions of it and the sum, but more of mad.lo.s64.
func (s *selector) mulAdd(v *ir.Value) (operand, bool) {
	if narrow(v.Type) {
		return operand{}, false
	}
	for i, m := range v.Args {
		x, y, ok := s.factors(m)
		if !ok || s.used[m.ID] != 1 || m.Block != v.Block {
			continue
		}
		addend := s.operand(v.Args[1-i])
		if x, y, op, ok := s.wideFactors(m); ok {
			return s.def(b64, "mad.wide"+op, x, y, addend), true
		}
		if m.Op == ir.OpMul || v.Type.Kind == ir.KindI32 {
			return s.def(classOf(v.Type), "mad.lo.s"+regBits(v.Type), s.operand(x), s.operand(y), addend), true
		}
	}
	return operand{}, false
}

// mulHi selects the upper half of a product.
func (s *selector) mulHi(v *ir.Value) operand {
	signed, sign := v.Op == ir.OpSMulHi, "u"
	if signed {
		sign = "s"
	}
	if !narrow(v.Type) {
		return s.def(classOf(v.Type), "mul.hi."+sign+regBits(v.Type), s.operand(v.Args[0]), s.operand(v.Args[1]))
	}
	product := s.def(b32, "mul.lo.s32", s.extended(v.Args[0], signed), s.extended(v.Args[1], signed))
	return s.cut(v.Type, s.def(b32, "shr."+sign+"32", product, imm(int64(v.Type.Bits()))))
}

// count selects popc, clz and brev. The first two yield 32 bits whatever they count in.
func (s *selector) count(v *ir.Value) operand {
	x := v.Args[0]
	if !narrow(v.Type) {
		c := classOf(v.Type)
		o := s.inReg(c, s.operand(x))
		if c == b32 || v.Op == ir.OpBrev {
			return s.def(c, v.Op.String()+".b"+regBits(v.Type), o)
		}
		return s.def(b64, "cvt.u64.u32", s.def(b32, v.Op.String()+".b64", o))
	}
	o := s.def(b32, v.Op.String()+".b32", s.inReg(b32, s.extended(x, false)))
	above := imm(int64(32 - v.Type.Bits()))
	switch v.Op {
	case ir.OpClz:
		o = s.def(b32, "sub.s32", o, above)
	case ir.OpBrev:
		o = s.def(b32, "shr.u32", o, above)
	}
	return s.cut(v.Type, o)
}
