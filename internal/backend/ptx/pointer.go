package ptx

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// An address is what a memory operand takes: a register or symbol plus an offset.
type address struct {
	base   operand
	offset int64
}

// nilOffset is the nil pointer in the spaces whose pointers are offsets in a window, where 0
// is the address of a variable.
var nilOffset = operand{text: "-1"}

// windowed reports whether pointers into the space are held as offsets in its window.
func windowed(space ir.Space) bool {
	return space == ir.Shared || space == ir.Local || space == ir.Constant
}

// short reports whether those offsets have 32 bits. Those of constants have 64: they may be
// of several windows.
func short(space ir.Space) bool { return space == ir.Shared || space == ir.Local }

// suffix returns the part of a memory instruction's name that says the space.
func suffix(space ir.Space) string {
	if space == ir.Generic {
		return ""
	}
	return "." + space.String()
}

// pointer selects an operation that yields an address. The address is computed where the
// operation stands, so that one before a loop stays there; what only feeds memory
// operands is folded into them and dropped by dead.go.
func (s *selector) pointer(v *ir.Value) {
	switch v.Op {
	case ir.OpAlloca:
		s.alloca(v)
	case ir.OpVar:
		x := v.Aux.(*ir.Variable)
		s.symbol(v, s.vars.symbol(x), x.Space)
	case ir.OpOffset:
		p := s.addressOf(v.Args[0])
		s.setAddress(v, address{p.base, p.offset + v.Imm})
	case ir.OpIndex:
		s.index(v)
	}
}

// symbol makes v the address of a variable that lies at a symbol.
func (s *selector) symbol(v *ir.Value, at address, space ir.Space) {
	if !windowed(v.Type.Space) {
		address := s.def(b64, "mov.u64", at.base)
		at.base = s.def(b64, "cvta"+suffix(space)+".u64", address)
	}
	s.setAddress(v, at)
}

// dynamicBytes returns the dynamic shared memory, in bytes, that the launch adds to that of the kernel.
func (s *selector) dynamicBytes() operand {
	all := s.def(b32, "mov.u32", operand{text: "%dynamic_smem_size"})
	if s.vars.dynamic == 0 {
		return all
	}
	return s.def(b32, "sub.s32", all, imm(s.vars.dynamic))
}

// setAddress notes where v points, and puts the address into a register for other uses.
func (s *selector) setAddress(v *ir.Value, p address) {
	c := classOf(v.Type)
	base := s.inReg(c, p.base)
	s.vals[v.ID] = base
	if p.offset != 0 {
		s.vals[v.ID] = s.def(c, "add.s"+bitsOfClass(c), base, imm(p.offset))
	}
	if p.offset != int64(int32(p.offset)) { // more than a memory operand holds
		p = address{base: s.vals[v.ID]}
	}
	s.addresses[v.ID] = p
}

// addressOf returns where pointer v points.
func (s *selector) addressOf(v *ir.Value) address {
	if p := s.addresses[v.ID]; p.base != (operand{}) {
		return p
	}
	return address{base: s.operand(v)}
}

// index selects arg0 + arg1*scale.
func (s *selector) index(v *ir.Value) {
	p := s.addressOf(v.Args[0])
	i, c := s.constantPart(v.Args[1], short(v.Type.Space))
	if i != nil {
		base := s.base(v.Args[0], p)
		if short(v.Type.Space) {
			p.base = s.index32(base, i, v.Imm)
		} else {
			p.base = s.index64(base, i, v.Imm)
		}
	}
	p.offset += c * v.Imm
	s.setAddress(v, p)
}

// base returns the register that address p of v starts from.
func (s *selector) base(v *ir.Value, p address) operand {
	if p.offset == 0 {
		return s.operand(v)
	}
	return s.inReg(classOf(v.Type), p.base)
}

// constantPart splits an index into a variable part, nil for none, and a constant. Offsets
// of 32 bits are kept whole: without its constant part an index may leave the window.
func (s *selector) constantPart(i *ir.Value, whole bool) (*ir.Value, int64) {
	if c, ok := s.constant(i); ok {
		return nil, c
	}
	if !whole && i.Op == ir.OpAdd && i.Type.Kind == ir.KindI64 {
		if c, ok := s.constant(i.Args[1]); ok {
			return i.Args[0], c
		}
	}
	return i, 0
}

// index32 returns base + i*scale for an offset. Only the lower 32 bits of i count.
func (s *selector) index32(base operand, i *ir.Value, scale int64) operand {
	x := s.low(i)
	if scale == 1 {
		return s.def(b32, "add.s32", base, x)
	}
	return s.def(b32, "mad.lo.s32", x, imm(scale), base)
}

// index64 returns base + i*scale. A power of two is a shift, as ptxas would not make one of mad.lo.s64.
func (s *selector) index64(base operand, i *ir.Value, scale int64) operand {
	if scale == int64(int32(scale)) {
		if i.Type.Kind == ir.KindI32 {
			return s.wideIndex(base, ".s32", s.operand(i), scale)
		}
		if x, ok := s.factor(i, true); ok {
			return s.wideIndex(base, ".s32", x, scale)
		}
		if x, ok := s.factor(i, false); ok && scale > 0 {
			return s.wideIndex(base, ".u32", x, scale)
		}
	}
	x := s.operand(i)
	if i.Type.Kind == ir.KindI32 {
		x = s.def(b64, "cvt.s64.s32", x)
	}
	switch {
	case scale == 1:
		return s.def(b64, "add.s64", base, x)
	case scale > 0 && scale&(scale-1) == 0:
		shifted := s.def(b64, "shl.b64", x, imm(int64(bits.TrailingZeros64(uint64(scale)))))
		return s.def(b64, "add.s64", base, shifted)
	}
	return s.def(b64, "mad.lo.s64", x, imm(scale), base)
}

// wideIndex returns base + x*scale, where x has 32 bits. Of mul.wide and a sum, ptxas makes one IMAD.WIDE; of mad.wide with
// a power of two it makes two instructions, LEA and LEA.HI.X.
func (s *selector) wideIndex(base operand, op string, x operand, scale int64) operand {
	if scale <= 1 || scale&(scale-1) != 0 {
		return s.def(b64, "mad.wide"+op, x, imm(scale), base)
	}
	return s.def(b64, "add.s64", base, s.def(b64, "mul.wide"+op, x, imm(scale)))
}

// toGeneric returns pointer v as a generic address.
func (s *selector) toGeneric(v *ir.Value) operand {
	o := s.operand(v)
	if !windowed(v.Type.Space) {
		return o
	}
	if v.Op == ir.OpConst {
		return imm(0)
	}
	c := classOf(v.Type)
	o = s.inReg(c, o)
	offset := o
	if c == b32 {
		offset = s.def(b64, "cvt.u64.u32", o)
	}
	address := s.def(b64, "cvta"+suffix(v.Type.Space)+".u64", offset)
	if neverNil(v) {
		return address
	}
	isNil := s.def(pred, "setp.eq.s"+bitsOfClass(c), o, nilOffset)
	return s.def(b64, "selp.b64", imm(0), address, isNil)
}

// fromGeneric returns a generic address as a pointer into space.
func (s *selector) fromGeneric(space ir.Space, o operand) operand {
	if !windowed(space) {
		return o
	}
	o = s.inReg(b64, o)
	c, offset := b64, s.def(b64, "cvta.to"+suffix(space)+".u64", o)
	if short(space) {
		c, offset = b32, s.def(b32, "cvt.u32.u64", offset)
	}
	isNil := s.def(pred, "setp.eq.s64", o, imm(0))
	return s.def(c, "selp"+classes[c].typ, nilOffset, offset, isNil)
}

// neverNil reports whether v points into a variable for certain.
func neverNil(v *ir.Value) bool { return analysis.Object(v) != nil }
