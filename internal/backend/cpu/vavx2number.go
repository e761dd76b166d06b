package cpu

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// What AVX2 has no instructions for are conversions between floats and integers of 64 bits, or without a sign.
// They are done with floats of 64 bits whose last bit counts ones, or 2^32: added to 2^52, or 2^84, an integer of
// 32 bits stands in the lower half of the float.

// float returns the bits of a float of 64 bits in all lanes.
func (a avx2) float(x float64) vreg { return a.constant(int64(math.Float64bits(x)), true) }

func (a avx2) round(op ir.Op, x, to vreg, wide bool) {
	a.code.Op(pick([2]string{"VROUNDPS", "VROUNDPD"}, wide), vasm.Imm(roundings[op]), vasm.Use(x), vasm.Def(to))
}

func (a avx2) extreme(op ir.Op, p pair) {
	names, bits := [2]string{"VMINPS", "VMINPD"}, "VPOR"
	if op == ir.OpFMax {
		names, bits = [2]string{"VMAXPS", "VMAXPD"}, "VPAND"
	}
	name := pick(names, p.wide)
	both := a.two(bits, a.two(name, p.x, p.y), a.two(name, p.y, p.x)) // of two zeros each way has another one
	m := a.result(pick([2]string{"VCMPPS", "VCMPPD"}, p.wide), vasm.Imm(notOrdered), vasm.Use(p.y), vasm.Use(p.x))
	a.blend(m, pair{a.two(pick(binaryLanes[ir.OpFAdd], p.wide), p.x, p.y), both, p.to, p.wide})
}

func (a avx2) convert(v *ir.Value, x, to [2]vreg) bool {
	from, wide := isWide(v.Args[0].Type), isWide(v.Type)
	switch v.Op {
	case ir.OpSExt:
		a.extend("VPMOVSXDQ", x[0], to)
	case ir.OpZExt:
		a.extend("VPMOVZXDQ", x[0], to)
	case ir.OpTrunc:
		a.truncate(x[0], x[1], to[0])
	case ir.OpFExt:
		a.extend("VCVTPS2PD", x[0], to)
	case ir.OpFRound:
		a.shorten("VCVTPD2PSY", x, to[0])
	case ir.OpSToF, ir.OpUToF:
		signed := v.Op == ir.OpSToF
		switch {
		case signed && !from && !wide:
			a.code.Op("VCVTDQ2PS", vasm.Use(x[0]), vasm.Def(to[0]))
		case signed && !from:
			a.extend("VCVTDQ2PD", x[0], to)
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
func (a avx2) toFloats(x [2]vreg, wide, signed bool, to [2]vreg) {
	if !wide {
		x = a.extended("VPMOVZXDQ", x[0])
	}
	ones := a.float(1 << 52)
	for i := range to {
		low := a.result("VPBLENDD", vasm.Imm(0xaa), vasm.Use(ones), vasm.Use(x[i]))
		if !wide {
			a.code.Op("VSUBPD", vasm.Use(ones), vasm.Use(low), vasm.Def(to[i]))
			continue
		}
		above, rest := math.Float64bits(1<<84), float64(1<<84+1<<52)
		if signed { // what has the sign is 2^31 more
			above, rest = above|1<<31, 1<<84+1<<63+1<<52
		}
		high := a.two("VPXOR", a.shifted("VPSRLQ", 32, x[i]), a.constant(int64(above), true))
		high = a.two("VSUBPD", high, a.float(rest))
		a.code.Op("VADDPD", vasm.Use(high), vasm.Use(low), vasm.Def(to[i]))
	}
}

// exactly returns integers as floats of 64 bits that round to the same floats of 32 bits: of a large one the bits that neither
// has room for come to one, that says whether there is any.
func (a avx2) exactly(x [2]vreg, wide, signed bool) [2]vreg {
	to := [2]vreg{a.vector(), a.vector()}
	if !wide {
		a.toFloats(x, wide, signed, to)
		return to
	}
	const last = 1<<11 - 1
	for i := range x {
		some := a.two("VPADDQ", a.two("VPAND", x[i], a.constant(last, true)), a.constant(last, true))
		large := a.two("VPAND", a.two("VPOR", some, x[i]), a.constant(^last, true))
		from, bits := x[i], int64(53)
		if signed {
			from, bits = a.two("VPADDQ", x[i], a.constant(1<<53, true)), 54
		}
		zero := a.vector()
		a.none(zero)
		small := a.two("VPCMPEQQ", a.shifted("VPSRLQ", bits, from), zero)
		y := a.vector()
		a.blend(small, pair{x[i], large, y, true})
		x[i] = y
	}
	a.toFloats(x, wide, signed, to)
	return to
}

func (a avx2) integer(x, to vreg, wide bool) {
	if !wide {
		a.code.Op("VCVTTPS2DQ", vasm.Use(x), vasm.Def(to))
		return
	}
	t := a.truncated(x)
	large := a.result("VCMPPD", vasm.Imm(isNotLess), vasm.Use(a.float(1<<63)), vasm.Use(x))
	a.blend(large, pair{a.constant(math.MinInt64, true), t, to, true})
}

// truncated converts floats of 64 bits to integers; those that are too large it does not.
func (a avx2) truncated(x vreg) vreg {
	x = a.result("VMAXPD", vasm.Use(a.float(-1<<63)), vasm.Use(x))
	x = a.result("VROUNDPD", vasm.Imm(roundings[ir.OpFTrunc]), vasm.Use(x))
	above := a.result("VROUNDPD", vasm.Imm(roundings[ir.OpFFloor]), vasm.Use(a.two("VMULPD", x, a.float(1.0/(1<<32)))))
	rest := a.two("VSUBPD", x, a.two("VMULPD", above, a.float(1<<32)))
	low := a.two("VPXOR", a.two("VADDPD", rest, a.float(1<<52)), a.float(1<<52))
	high := a.vector()
	a.code.Op("VCVTTPD2DQY", vasm.Use(above), vasm.Def(high).Half())
	a.code.Op("VPMOVZXDQ", vasm.Use(high).Half(), vasm.Def(high))
	return a.two("VPADDQ", a.shifted("VPSLLQ", 32, high), low)
}

func (a avx2) floats(x vreg, signed bool) [2]vreg {
	if signed {
		return a.extended("VCVTDQ2PD", x)
	}
	to := [2]vreg{a.vector(), a.vector()}
	a.toFloats([2]vreg{x}, false, false, to)
	return to
}

// integers adds 2^52 where there is no instruction: the lower half of the float's bits is the integer.
func (a avx2) integers(x [2]vreg, signed bool, to vreg) {
	if signed {
		a.shorten("VCVTTPD2DQY", x, to)
		return
	}
	for i := range x {
		x[i] = a.two("VADDPD", a.result("VROUNDPD", vasm.Imm(roundings[ir.OpFTrunc]), vasm.Use(x[i])), a.float(1<<52))
	}
	a.truncate(x[0], x[1], to)
}

func (a avx2) pack(x vreg, size int64) vreg {
	low, high := a.two("VPAND", x, a.constant(1<<(8*size)-1, false)), a.vector()
	a.code.Op(a.extract, vasm.Imm(1), vasm.Use(low), vasm.Def(high).Half())
	to := a.vector()
	a.code.Op("VPACKUSDW", vasm.Use(high).Half(), vasm.Use(low).Half(), vasm.Def(to).Half())
	if size == 1 {
		a.code.Op("VPACKUSWB", vasm.Use(to).Half(), vasm.Use(to).Half(), vasm.Def(to).Half())
	}
	return to
}

func (a avx2) fromF16(x, to vreg) {
	a.code.Op("VCVTPH2PS", vasm.Use(a.pack(x, 2)).Half(), vasm.Def(to))
}

func (a avx2) toF16(x, to vreg) {
	packed := a.vector()
	a.code.Op("VCVTPS2PH", vasm.Imm(0), vasm.Use(x), vasm.Def(packed).Half())
	a.code.Op("VPMOVZXWD", vasm.Use(packed).Half(), vasm.Def(to))
}
