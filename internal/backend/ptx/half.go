package ptx

import (
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// convertHalf selects a conversion between a float32 and a 16-bit float. Only registers of 16
// bits are taken for the latter.
func (s *selector) convertHalf(v *ir.Value) operand {
	x := v.Args[0]
	switch v.Op {
	case ir.OpF16ToF:
		return s.def(f32, "cvt.f32.f16", s.def(b16, "cvt.u16.u32", s.inReg(b32, s.operand(x))))
	case ir.OpBF16ToF:
		return s.def(f32, "mov.b32", s.def(b32, "shl.b32", s.inReg(b32, s.operand(x)), imm(16)))
	case ir.OpFToF16:
		return s.toHalf("cvt.rn.f16.f32", x)
	}
	if atLeast(s.target, better[v.Op]) {
		return s.toHalf("cvt.rn.bf16.f32", x)
	}
	return s.roundToBF16(x)
}

func (s *selector) toHalf(op string, x *ir.Value) operand {
	return s.def(b32, "cvt.u32.u16", s.def(b16, op, s.inReg(f32, s.operand(x))))
}

// roundToBF16 adds half of the last place that stays, less one bit where that place is even.
func (s *selector) roundToBF16(x *ir.Value) operand {
	f := s.inReg(f32, s.operand(x))
	bits := s.def(b32, "mov.b32", f)
	last := s.def(b32, "and.b32", s.def(b32, "shr.u32", bits, imm(16)), imm(1))
	sum := s.def(b32, "add.s32", s.def(b32, "add.s32", bits, imm(0x7fff)), last)
	nan := s.def(pred, "setp.nan.f32", f, f)
	return s.def(b32, "selp.b32", imm(0x7fff), s.def(b32, "shr.u32", sum, imm(16)), nan)
}

// pairOfHalves makes one instruction of two conversions to a 16-bit float and the operations that pack their results.
func (s *selector) pairOfHalves(v *ir.Value) (operand, bool) {
	if v.Type.Kind != ir.KindI32 || !atLeast(s.target, better[ir.OpFToBF16]) {
		return operand{}, false
	}
	for i, upper := range v.Args {
		if upper.Op != ir.OpShl {
			continue
		}
		shift, ok := s.constant(upper.Args[1])
		low, high := halfOf(v.Args[1-i]), halfOf(upper.Args[0])
		if ok && shift == 16 && low != nil && high != nil && low.Op == high.Op {
			op := "cvt.rn.bf16x2.f32"
			if low.Op == ir.OpFToF16 {
				op = "cvt.rn.f16x2.f32"
			}
			return s.def(b32, op, s.inReg(f32, s.operand(high.Args[0])), s.inReg(f32, s.operand(low.Args[0]))), true
		}
	}
	return operand{}, false
}

// halfOf returns the conversion to a 16-bit float whose zero-extended result is v, or nil.
func halfOf(v *ir.Value) *ir.Value {
	if v.Op != ir.OpZExt || v.Args[0].Op != ir.OpFToBF16 && v.Args[0].Op != ir.OpFToF16 {
		return nil
	}
	return v.Args[0]
}
