package ptx

import "github.com/gopherwarp/gopherwarp/internal/ir"

// divide selects a division, or the remainder of one, of 64 bits. PTX has both, but ptxas (13.0 and 13.5) makes them calls
// of routines of its own, and one of those (__cuda_sm20_rem_u64) loses a register of its caller where a block has a single warp and
// registers are short: the caller's addresses then point anywhere. Besides, what is written out needs no call.
//
// Numbers with a sign are divided as magnitudes; that of the smallest one, 1<<63, has 64 bits.
func (s *selector) divide(v *ir.Value) operand {
	x, y := s.inReg(b64, s.operand(v.Args[0])), s.inReg(b64, s.operand(v.Args[1]))
	rest := v.Op == ir.OpSRem || v.Op == ir.OpURem
	if v.Op == ir.OpUDiv || v.Op == ir.OpURem {
		return s.divideUnsigned(x, y, rest)
	}
	sign := s.def(b64, "shr.s64", x, imm(63))
	if !rest {
		sign = s.def(b64, "shr.s64", s.def(b64, "xor.b64", x, y), imm(63))
	}
	o := s.divideUnsigned(s.def(b64, "abs.s64", x), s.def(b64, "abs.s64", y), rest)
	return s.def(b64, "sub.s64", s.def(b64, "xor.b64", o, sign), sign)
}

// divideUnsigned returns the quotient of n and d or, if rest, the remainder. The estimate of the quotient is at
// most 2 too small: it is the upper half of n times the reciprocal of d, which is less than 2 too small.
func (s *selector) divideUnsigned(n, d operand, rest bool) operand {
	q := s.def(b64, "mul.hi.u64", n, s.reciprocal(d))
	r := s.def(b64, "sub.s64", n, s.def(b64, "mul.lo.s64", q, d))
	for range 2 {
		small := s.def(pred, "setp.ge.u64", r, d)
		q = s.def(b64, "selp.b64", s.def(b64, "add.s64", q, imm(1)), q, small)
		r = s.def(b64, "selp.b64", s.def(b64, "sub.s64", r, d), r, small)
	}
	if rest {
		return r
	}
	return q
}

// reciprocal returns a whole number at most 1<<64/d, and less than 2 below that. The first guess is a
// float32 with all errors on that side: d rounded up, and 2 units in the last place, one of which the reciprocal may be wrong by (PTX ISA,
// rcp.approx). Added to the bits are 64 to the exponent and -2 to the fraction. Newton's iteration x += x*(1<<64-x*d)>>64, which stays
// below what it approaches, doubles the 21 bits that are right, and again.
func (s *selector) reciprocal(d operand) operand {
	guess := s.def(f32, "rcp.approx.ftz.f32", s.def(f32, "cvt.rp.f32.u64", d))
	bits := s.def(b32, "add.s32", s.def(b32, "mov.b32", guess), imm(64<<23-2))
	x := s.def(b64, "cvt.rzi.u64.f32", s.def(f32, "mov.b32", bits))
	for range 2 {
		missing := s.def(b64, "neg.s64", s.def(b64, "mul.lo.s64", x, d))
		x = s.def(b64, "add.s64", x, s.def(b64, "mul.hi.u64", x, missing))
	}
	return x
}
