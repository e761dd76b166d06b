package units

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// What AVX2 has no instructions for are conversions between floats and integers of 64 bits, or without a sign.
// They are done with floats of 64 bits whose last bit counts ones, or 2^32: added to 2^52, or 2^84, an integer of
// 32 bits stands in the lower half of the float.

// float returns the bits of a float of 64 bits in all lanes.
func (a avx2) float(x float64) Vreg { return a.Constant(int64(math.Float64bits(x)), true) }

func (a avx2) Round(op ir.Op, x, to Vreg, wide bool) {
	a.Code.Op(Pick([2]string{"VROUNDPS", "VROUNDPD"}, wide), vasm.Imm(Roundings[op]), vasm.Use(x), vasm.Def(to))
}

func (a avx2) Extreme(op ir.Op, p Pair) {
	names, bits := [2]string{"VMINPS", "VMINPD"}, "VPOR"
	if op == ir.OpFMax {
		names, bits = [2]string{"VMAXPS", "VMAXPD"}, "VPAND"
	}
	name := Pick(names, p.Wide)
	both := a.Two(bits, a.Two(name, p.X, p.Y), a.Two(name, p.Y, p.X)) // of two zeros each way has another one
	m := a.result(Pick([2]string{"VCMPPS", "VCMPPD"}, p.Wide), vasm.Imm(notOrdered), vasm.Use(p.Y), vasm.Use(p.X))
	a.Blend(m, Pair{a.Two(Pick(BinaryLanes[ir.OpFAdd], p.Wide), p.X, p.Y), both, p.To, p.Wide})
}

func (a avx2) Convert(v *ir.Value, x, to [2]Vreg) bool {
	from, wide := IsWide(v.Args[0].Type), IsWide(v.Type)
	switch v.Op {
	case ir.OpSExt:
		a.Extend("VPMOVSXDQ", x[0], to)
	case ir.OpZExt:
		a.Extend("VPMOVZXDQ", x[0], to)
	case ir.OpTrunc:
		a.Truncate(x[0], x[1], to[0])
	case ir.OpFExt:
		a.Extend("VCVTPS2PD", x[0], to)
	case ir.OpFRound:
		a.shorten("VCVTPD2PSY", x, to[0])
	case ir.OpSToF, ir.OpUToF:
		signed := v.Op == ir.OpSToF
		switch {
		case signed && !from && !wide:
			a.Code.Op("VCVTDQ2PS", vasm.Use(x[0]), vasm.Def(to[0]))
		case signed && !from:
			a.Extend("VCVTDQ2PD", x[0], to)
		case !wide:
			a.shorten("VCVTPD2PSY", a.exactly(x, from, signed), to[0])
		default:
			a.toFloats(x, from, signed, to)
		}
	default:
		return false
	}
	return true
}

// toFloats converts integers, of 32 bits without a sign or of 64 bits, to floats of 64.
func (a avx2) toFloats(x [2]Vreg, wide, signed bool, to [2]Vreg) {
	if !wide {
		x = a.Extended("VPMOVZXDQ", x[0])
	}
	ones := a.float(1 << 52)
	for i := range to {
		low := a.result("VPBLENDD", vasm.Imm(0xaa), vasm.Use(ones), vasm.Use(x[i]))
		if !wide {
			a.Code.Op("VSUBPD", vasm.Use(ones), vasm.Use(low), vasm.Def(to[i]))
			continue
		}
		above, rest := math.Float64bits(1<<84), float64(1<<84+1<<52)
		if signed { // what has the sign is 2^31 more
			above, rest = above|1<<31, 1<<84+1<<63+1<<52
		}
		high := a.Two("VPXOR", a.Shifted("VPSRLQ", 32, x[i]), a.Constant(int64(above), true))
		high = a.Two("VSUBPD", high, a.float(rest))
		a.Code.Op("VADDPD", vasm.Use(high), vasm.Use(low), vasm.Def(to[i]))
	}
}

// exactly returns integers as floats of 64 bits that round to the same floats of 32 bits: of a large one the bits that neither
// has room for come to one, that says whether there is any.
func (a avx2) exactly(x [2]Vreg, wide, signed bool) [2]Vreg {
	to := [2]Vreg{a.Vector(), a.Vector()}
	if !wide {
		a.toFloats(x, wide, signed, to)
		return to
	}
	const last = 1<<11 - 1
	for i := range x {
		some := a.Two("VPADDQ", a.Two("VPAND", x[i], a.Constant(last, true)), a.Constant(last, true))
		large := a.Two("VPAND", a.Two("VPOR", some, x[i]), a.Constant(^last, true))
		from, bits := x[i], int64(53)
		if signed {
			from, bits = a.Two("VPADDQ", x[i], a.Constant(1<<53, true)), 54
		}
		zero := a.Vector()
		a.None(zero)
		small := a.Two("VPCMPEQQ", a.Shifted("VPSRLQ", bits, from), zero)
		y := a.Vector()
		a.Blend(small, Pair{x[i], large, y, true})
		x[i] = y
	}
	a.toFloats(x, wide, signed, to)
	return to
}

func (a avx2) Integer(x, to Vreg, wide bool) {
	if !wide {
		a.Code.Op("VCVTTPS2DQ", vasm.Use(x), vasm.Def(to))
		return
	}
	t := a.truncated(x)
	large := a.result("VCMPPD", vasm.Imm(isNotLess), vasm.Use(a.float(1<<63)), vasm.Use(x))
	a.Blend(large, Pair{a.Constant(math.MinInt64, true), t, to, true})
}

// truncated converts floats of 64 bits to integers; those that are too large it does not.
func (a avx2) truncated(x Vreg) Vreg {
	x = a.result("VMAXPD", vasm.Use(a.float(-1<<63)), vasm.Use(x))
	x = a.result("VROUNDPD", vasm.Imm(Roundings[ir.OpFTrunc]), vasm.Use(x))
	above := a.result("VROUNDPD", vasm.Imm(Roundings[ir.OpFFloor]), vasm.Use(a.Two("VMULPD", x, a.float(1.0/(1<<32)))))
	rest := a.Two("VSUBPD", x, a.Two("VMULPD", above, a.float(1<<32)))
	low := a.Two("VPXOR", a.Two("VADDPD", rest, a.float(1<<52)), a.float(1<<52))
	high := a.Vector()
	a.Code.Op("VCVTTPD2DQY", vasm.Use(above), vasm.Def(high).Half())
	a.Code.Op("VPMOVZXDQ", vasm.Use(high).Half(), vasm.Def(high))
	return a.Two("VPADDQ", a.Shifted("VPSLLQ", 32, high), low)
}

func (a avx2) Floats(x Vreg, signed bool) [2]Vreg {
	if signed {
		return a.Extended("VCVTDQ2PD", x)
	}
	to := [2]Vreg{a.Vector(), a.Vector()}
	a.toFloats([2]Vreg{x}, false, false, to)
	return to
}

// Integers adds 2^52 where there is no instruction: the lower half of the float's bits is the integer.
func (a avx2) Integers(x [2]Vreg, signed bool, to Vreg) {
	if signed {
		a.shorten("VCVTTPD2DQY", x, to)
		return
	}
	for i := range x {
		x[i] = a.Two("VADDPD", a.result("VROUNDPD", vasm.Imm(Roundings[ir.OpFTrunc]), vasm.Use(x[i])), a.float(1<<52))
	}
	a.Truncate(x[0], x[1], to)
}

func (a avx2) pack(x Vreg, size int64) Vreg {
	low, high := a.Two("VPAND", x, a.Constant(1<<(8*size)-1, false)), a.Vector()
	a.Code.Op(a.extract, vasm.Imm(1), vasm.Use(low), vasm.Def(high).Half())
	to := a.Vector()
	a.Code.Op("VPACKUSDW", vasm.Use(high).Half(), vasm.Use(low).Half(), vasm.Def(to).Half())
	if size == 1 {
		a.Code.Op("VPACKUSWB", vasm.Use(to).Half(), vasm.Use(to).Half(), vasm.Def(to).Half())
	}
	return to
}

func (a avx2) FromF16(x, to Vreg) {
	a.Code.Op("VCVTPH2PS", vasm.Use(a.pack(x, 2)).Half(), vasm.Def(to))
}

func (a avx2) ToF16(x, to Vreg) {
	packed := a.Vector()
	a.Code.Op("VCVTPS2PH", vasm.Imm(0), vasm.Use(x), vasm.Def(packed).Half())
	a.Code.Op("VPMOVZXWD", vasm.Use(packed).Half(), vasm.Def(to))
}
