package cpu

import (
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// avx512 is AVX-512 with its parts F, BW, DQ and VL: 16 lanes, registers for masks, and instructions for
// nearly everything.
type avx512 struct{ *assembler }

func (avx512) lanes() int { return 16 }

func (avx512) name() string { return "" }

func (a avx512) mask() vreg { return a.code.Reg(vasm.Mask) }

func (a avx512) none(m vreg) { a.code.Op("KXORW", vasm.Def(m), vasm.Def(m), vasm.Def(m)) }

func (a avx512) all(m vreg) { a.code.Op("KXNORW", vasm.Def(m), vasm.Def(m), vasm.Def(m)) }

func (a avx512) copyMask(from, to vreg) { a.code.Op("KMOVW", vasm.Use(from), vasm.Def(to)) }

func (a avx512) logic(op maskOp, x, y, to vreg) {
	names := [...]string{maskAnd: "KANDW", maskWithout: "KANDNW", maskOr: "KORW", maskXor: "KXORW", maskSame: "KXNORW"}
	a.code.Op(names[op], vasm.Use(x), vasm.Use(y), vasm.Def(to))
}

func (a avx512) not(x, to vreg) { a.code.Op("KNOTW", vasm.Use(x), vasm.Def(to)) }

func (a avx512) test(m vreg) { a.code.Op("KORTESTW", vasm.Use(m), vasm.Use(m)) }

func (a avx512) unlessAll(m vreg, label string) {
	a.test(m)
	a.code.Jump("JCC", label) // the carry says that all lanes are set
}

func (a avx512) bits(m vreg) vreg {
	n := a.code.Reg(vasm.Integer)
	a.code.Op("KMOVW", vasm.Use(m), vasm.Def(n))
	return n
}

func (a avx512) truth(n, m vreg) { a.code.Op("KMOVW", vasm.Use(n), vasm.Def(m)) }

func (a avx512) odd(x, m vreg) {
	a.code.Op("VPTESTMD", vasm.Use(a.constant(1, false)), vasm.Use(x), vasm.Def(m))
}

func (a avx512) half(m vreg, i int) vreg {
	if m == 0 || i == 0 {
		return m
	}
	h := a.mask()
	a.code.Op("KSHIFTRW", vasm.Imm(8), vasm.Use(m), vasm.Def(h))
	return h
}

func (a avx512) join(low, high, m vreg) {
	a.code.Op("KUNPCKBW", vasm.Use(low), vasm.Use(high), vasm.Def(m))
}

func (a avx512) compare(op ir.Op, p pair) {
	names := [2]string{"VPCMPD", "VPCMPQ"}
	switch {
	case op >= ir.OpFEq:
		names = [2]string{"VCMPPS", "VCMPPD"}
	case op == ir.OpULt || op == ir.OpULe:
		names = [2]string{"VPCMPUD", "VPCMPUQ"}
	}
	a.code.Op(pick(names, p.wide), vasm.Imm(predicates[op]), vasm.Use(p.y), vasm.Use(p.x), vasm.Def(p.to))
}

func (a avx512) blend(m vreg, p pair) {
	a.code.Op(pick([2]string{"VPBLENDMD", "VPBLENDMQ"}, p.wide), vasm.Use(p.x), vasm.Use(p.y), vasm.Use(m), vasm.Def(p.to))
}

func (a avx512) mix(m, x, to vreg, wide bool) {
	a.code.Op(pick([2]string{"VMOVDQA32", "VMOVDQA64"}, wide), vasm.Use(x), vasm.Use(m), vasm.Mod(to))
}

func (a avx512) only(m, x, to vreg, wide bool) {
	a.code.Op(pick([2]string{"VMOVDQA32.Z", "VMOVDQA64.Z"}, wide), vasm.Use(x), vasm.Use(m), vasm.Def(to))
}

func (a avx512) load(at vasm.Operand, m, to vreg, e element) {
	name, masked := "VMOVUPS", pick([2]string{"VMOVUPS.Z", "VMOVUPD.Z"}, e.size == 8)
	if e.size < 4 {
		name, masked = extensions[e], extensions[e]+".Z"
	}
	if m == 0 {
		a.code.Op(name, at, vasm.Def(to))
	} else {
		a.code.Op(masked, at, vasm.Use(m), vasm.Def(to))
	}
}

func (a avx512) store(x vreg, at vasm.Operand, m vreg, size int64) {
	switch {
	case m == 0 && size == 1:
		a.code.Op("VMOVDQU32", vasm.Use(a.pack(x, size)).Word(), at)
	case m == 0 && size == 2:
		a.code.Op("VMOVDQU32", vasm.Use(a.pack(x, size)).Half(), at)
	case m == 0:
		a.code.Op("VMOVUPS", vasm.Use(x), at)
	default:
		a.code.Op(map[int64]string{1: "VPMOVDB", 2: "VPMOVDW", 4: "VMOVUPS", 8: "VMOVUPD"}[size], vasm.Use(x), vasm.Use(m), at)
	}
}

// copyOf returns a copy of a half of m, or of all lanes for 0.
func (a avx512) copyOf(m vreg, i int) vreg {
	k := a.mask()
	if m != 0 {
		a.copyMask(a.half(m, i), k)
	} else {
		a.all(k)
	}
	return k
}

func (a avx512) gather(at [2]vreg, m vreg, to [2]vreg, wide bool) {
	zero := a.number(0)
	for i := range 2 {
		k, part := a.copyOf(m, i), a.vector()
		a.code.Op("VPXORQ", vasm.Def(part), vasm.Def(part), vasm.Def(part))
		if wide {
			a.code.Op("VGATHERQPD", vasm.Vectored(zero, at[i]), vasm.Mod(k), vasm.Mod(part).Soon())
			a.code.Op("VMOVUPS", vasm.Use(part), vasm.Def(to[i]))
			continue
		}
		a.code.Op("VGATHERQPS", vasm.Vectored(zero, at[i]), vasm.Mod(k), vasm.Mod(part).Half().Soon())
		if i == 0 {
			a.code.Op("VMOVUPS", vasm.Use(part), vasm.Def(to[0]))
		} else {
			a.code.Op(a.insert, vasm.Imm(1), vasm.Use(part).Half(), vasm.Use(to[0]), vasm.Def(to[0]))
		}
	}
}

func (a avx512) scatter(x, at [2]vreg, m vreg, size int64) {
	if size < 4 {
		a.scatterEach(x, at, m, size)
		return
	}
	wide := size == 8
	zero := a.number(0)
	for i := range 2 {
		k := a.copyOf(m, i)
		if wide {
			a.code.Op("VSCATTERQPD", vasm.Use(x[i]), vasm.Mod(k), vasm.Vectored(zero, at[i]))
			continue
		}
		part := x[0]
		if i == 1 {
			part = a.vector()
			a.code.Op(a.extract, vasm.Imm(1), vasm.Use(x[0]), vasm.Def(part).Half())
		}
		a.code.Op("VSCATTERQPS", vasm.Use(part).Half(), vasm.Mod(k), vasm.Vectored(zero, at[i]))
	}
}

func (a avx512) broadcast(n, to vreg, wide bool) {
	a.code.Op(pick([2]string{"VPBROADCASTD", "VPBROADCASTQ"}, wide), vasm.Use(n), vasm.Def(to))
}

func (a avx512) steps(i int, stride int64, to vreg) {
	by, n := a.constant(stride, true), a.number(0x0706050403020100+int64(i)*0x0808080808080808)
	a.code.Op("VMOVQ", vasm.Use(n), vasm.Def(to).Word())
	a.code.Op("VPMOVZXBQ", vasm.Use(to).Word(), vasm.Def(to))
	a.code.Op("VPMULLQ", vasm.Use(by), vasm.Use(to), vasm.Def(to))
}

func (a avx512) count(to vreg) {
	low, high := a.number(0x0706050403020100), a.number(0x0f0e0d0c0b0a0908)
	a.code.Op("VMOVQ", vasm.Use(low), vasm.Def(to).Word())
	a.code.Op("VPINSRQ", vasm.Imm(1), vasm.Use(high), vasm.Use(to).Word(), vasm.Def(to).Word())
	a.code.Op("VPMOVZXBD", vasm.Use(to).Word(), vasm.Def(to))
}

func (a avx512) binary(op ir.Op, p pair) { a.pair(pick(binaryLanes[op], p.wide), p) }

func (a avx512) times(x vreg, n int64, to vreg) {
	a.binary(ir.OpMul, pair{x, a.constant(n, true), to, true})
}

func (a avx512) round(op ir.Op, x, to vreg, wide bool) {
	a.code.Op(pick([2]string{"VRNDSCALEPS", "VRNDSCALEPD"}, wide), vasm.Imm(roundings[op]), vasm.Use(x), vasm.Def(to))
}

func (a avx512) extreme(op ir.Op, p pair) {
	code := map[ir.Op]int64{ir.OpFMin: 4, ir.OpFMax: 5}[op]
	t, m := a.vector(), a.mask()
	x, y := vasm.Use(p.x), vasm.Use(p.y)
	a.code.Op(pick([2]string{"VRANGEPS", "VRANGEPD"}, p.wide), vasm.Imm(code), y, x, vasm.Def(t))
	a.code.Op(pick([2]string{"VCMPPS", "VCMPPD"}, p.wide), vasm.Imm(notOrdered), y, x, vasm.Def(m))
	a.code.Op(pick([2]string{"VADDPS", "VADDPD"}, p.wide), y, x, vasm.Use(m), vasm.Mod(t))
	a.code.Op("VMOVUPS", vasm.Use(t), vasm.Def(p.to))
}

func (a avx512) convert(v *ir.Value, x, to [2]vreg) bool {
	from, wide := isWide(v.Args[0].Type), isWide(v.Type)
	op := conversion512(v.Op, from, wide)
	switch {
	case op == "":
		return false
	case from == wide:
		for i := range 2 {
			if to[i] != 0 {
				a.code.Op(op, vasm.Use(x[i]), vasm.Def(to[i]))
			}
		}
	case wide:
		a.extend(op, x[0], to)
	default:
		a.shorten(op, x, to[0])
	}
	return true
}

// conversion512 returns the instruction that converts between types that are wide or not, or "".
func conversion512(op ir.Op, from, to bool) string {
	wide := [2]bool{from, to}
	switch op {
	case ir.OpSExt:
		return "VPMOVSXDQ"
	case ir.OpZExt:
		return "VPMOVZXDQ"
	case ir.OpTrunc:
		return "VPMOVQD"
	case ir.OpFExt:
		return "VCVTPS2PD"
	case ir.OpFRound:
		return "VCVTPD2PS"
	case ir.OpSToF:
		return map[[2]bool]string{{false, false}: "VCVTDQ2PS", {false, true}: "VCVTDQ2PD", {true, false}: "VCVTQQ2PS", {true, true}: "VCVTQQ2PD"}[wide]
	case ir.OpUToF:
		return map[[2]bool]string{{false, false}: "VCVTUDQ2PS", {false, true}: "VCVTUDQ2PD", {true, false}: "VCVTUQQ2PS", {true, true}: "VCVTUQQ2PD"}[wide]
	}
	return ""
}

func (a avx512) integer(x, to vreg, wide bool) {
	a.code.Op(pick([2]string{"VCVTTPS2DQ", "VCVTTPD2QQ"}, wide), vasm.Use(x), vasm.Def(to))
}

func (a avx512) floats(x vreg, signed bool) [2]vreg {
	if signed {
		return a.extended("VCVTDQ2PD", x)
	}
	return a.extended("VCVTUDQ2PD", x)
}

func (a avx512) integers(x [2]vreg, signed bool, to vreg) {
	if signed {
		a.shorten("VCVTTPD2DQ", x, to)
	} else {
		a.shorten("VCVTTPD2UDQ", x, to)
	}
}

func (a avx512) truncate(low, high, to vreg) { a.shorten("VPMOVQD", [2]vreg{low, high}, to) }

func (a avx512) pack(x vreg, size int64) vreg {
	to := a.vector()
	if size == 1 {
		a.code.Op("VPMOVDB", vasm.Use(x), vasm.Def(to).Word())
	} else {
		a.code.Op("VPMOVDW", vasm.Use(x), vasm.Def(to).Half())
	}
	return to
}

func (a avx512) fromF16(x, to vreg) {
	a.code.Op("VCVTPH2PS", vasm.Use(a.pack(x, 2)).Half(), vasm.Def(to))
}

func (a avx512) toF16(x, to vreg) {
	packed := a.vector()
	a.code.Op("VCVTPS2PH", vasm.Imm(0), vasm.Use(x), vasm.Def(packed).Half())
	a.code.Op("VPMOVZXWD", vasm.Use(packed).Half(), vasm.Def(to))
}
