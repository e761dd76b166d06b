package ptx

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// convert selects a conversion.
func (s *selector) convert(v *ir.Value) operand {
	x := v.Args[0]
	if c, ok := s.constant(x); ok && v.Type.IsInt() {
		if v.Op == ir.OpZExt {
			c &= mask(x.Type)
		}
		return s.fold(v, c)
	}
	switch v.Op {
	case ir.OpTrunc:
		o := s.low(x)
		if s.onlyStored(v) {
			return o
		}
		return s.cut(v.Type, o)
	case ir.OpSExt, ir.OpZExt:
		return s.extend(v)
	case ir.OpSToF, ir.OpUToF:
		return s.intToFloat(v)
	case ir.OpFToS, ir.OpFToU:
		return s.floatToInt(v)
	case ir.OpFExt:
		return s.def(f64, "cvt.f64.f32", s.inReg(f32, s.operand(x)))
	case ir.OpFRound:
		return s.def(f32, "cvt.rn.f32.f64", s.inReg(f64, s.operand(x)))
	}
	return s.bitcast(v)
}

// low returns the lower 32 bits of an integer. Where nothing else uses a 64-bit sum or
// product it is computed in 32 bits from the start.
func (s *selector) low(v *ir.Value) operand {
	if v.Type.Kind != ir.KindI64 {
		return s.extended(v, false)
	}
	if c, ok := s.constant(v); ok {
		return imm(int64(int32(c)))
	}
	switch v.Op {
	case ir.OpSExt, ir.OpZExt:
		return s.extended(v.Args[0], v.Op == ir.OpSExt)
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpAnd, ir.OpOr, ir.OpXor:
		if s.used[v.ID] == 1 {
			return s.def(b32, intOps[v.Op].name+"32", s.low(v.Args[0]), s.low(v.Args[1]))
		}
	case ir.OpShl:
		if n, ok := s.constant(v.Args[1]); ok && s.used[v.ID] == 1 {
			return s.def(b32, "shl.b32", s.low(v.Args[0]), imm(n&math.MaxUint32))
		}
	}
	return s.def(b32, "cvt.u32.u64", s.operand(v))
}

// extend selects sext and zext.
func (s *selector) extend(v *ir.Value) operand {
	signed, from := v.Op == ir.OpSExt, v.Args[0]
	if v.Type.Kind != ir.KindI64 {
		o := s.extended(from, signed)
		if signed {
			o = s.cut(v.Type, o)
		}
		return o
	}
	if from.Type.Kind == ir.KindI1 {
		one := imm(1)
		if signed {
			one = imm(-1)
		}
		return s.def(b64, "selp.b64", one, imm(0), s.inReg(pred, s.operand(from)))
	}
	if signed {
		return s.def(b64, fmt.Sprintf("cvt.s64.s%d", from.Type.Bits()), s.operand(from))
	}
	return s.def(b64, "cvt.u64.u32", s.operand(from))
}

func (s *selector) intToFloat(v *ir.Value) operand {
	from, sign := v.Args[0], "u"
	if v.Op == ir.OpSToF {
		sign = "s"
	}
	o := s.operand(from)
	if from.Type.Kind != ir.KindI64 {
		o = s.extended(from, sign == "s")
	}
	c := classOf(v.Type)
	o = s.inReg(classOf(widest(from.Type)), o)
	return s.def(c, "cvt.rn"+classes[c].typ+"."+sign+regBits(from.Type), o)
}

// widest returns the integer type that fills the register of type t.
func widest(t *ir.Type) *ir.Type {
	if narrow(t) {
		return ir.I32
	}
	return t
}

// floatToInt selects ftos and ftou. PTX clamps to the range of the result and turns a NaN
// into 0, except where one of the types has 64 bits (ISA, cvt): there it must be replaced.
func (s *selector) floatToInt(v *ir.Value) operand {
	from, to := classOf(v.Args[0].Type), classOf(widest(v.Type))
	sign := "u"
	if v.Op == ir.OpFToS {
		sign = "s"
	}
	x := s.inReg(from, s.operand(v.Args[0]))
	o := s.def(to, "cvt.rzi."+sign+regBits(v.Type)+classes[from].typ, x)
	if from == f64 || to == b64 {
		nan := s.def(pred, "setp.nan"+classes[from].typ, x, x)
		o = s.def(to, "selp"+classes[to].typ, imm(0), o, nan)
	}
	if !narrow(v.Type) {
		return o
	}
	if sign == "u" {
		return s.cut(v.Type, s.def(b32, "min.u32", o, imm(mask(v.Type))))
	}
	top := mask(v.Type) >> 1
	o = s.def(b32, "max.s32", s.def(b32, "min.s32", o, imm(top)), imm(-top-1))
	return s.cut(v.Type, o)
}

// bitcast selects a change of type that keeps the bits. Pointers have the bits of their
// generic address.
func (s *selector) bitcast(v *ir.Value) operand {
	from, to := v.Args[0].Type, v.Type
	o := s.operand(v.Args[0])
	a, b := from, to
	if from.IsPtr() {
		if to.IsPtr() && to.Space == from.Space {
			return o
		}
		o, a = s.toGeneric(v.Args[0]), ir.I64
	}
	if to.IsPtr() {
		b = ir.I64
	}
	if classOf(a) != classOf(b) {
		c := classOf(b)
		o = s.def(c, "mov.b"+bitsOfClass(c), s.inReg(classOf(a), o))
	}
	if to.IsPtr() {
		return s.fromGeneric(to.Space, o)
	}
	return o
}

func bitsOfClass(c class) string {
	if c == b64 || c == f64 {
		return "64"
	}
	return "32"
}
