package units

import (
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// avx512 is AVX-512 with its parts F, BW, DQ and VL: 16 lanes, registers for masks, and instructions for
// nearly everything.
type avx512 struct{ *Assembler }

func (avx512) Lanes() int { return 16 }

func (avx512) Name() string { return "" }

func (a avx512) Mask() Vreg { return a.Code.Reg(vasm.Mask) }

func (a avx512) None(m Vreg) { a.Code.Op("KXORW", vasm.Def(m), vasm.Def(m), vasm.Def(m)) }

func (a avx512) All(m Vreg) { a.Code.Op("KXNORW", vasm.Def(m), vasm.Def(m), vasm.Def(m)) }

func (a avx512) CopyMask(from, to Vreg) { a.Code.Op("KMOVW", vasm.Use(from), vasm.Def(to)) }

func (a avx512) Logic(op MaskOp, x, y, to Vreg) {
	names := [...]string{MaskAnd: "KANDW", MaskWithout: "KANDNW", MaskOr: "KORW", MaskXor: "KXORW", MaskSame: "KXNORW"}
	a.Code.Op(names[op], vasm.Use(x), vasm.Use(y), vasm.Def(to))
}

func (a avx512) Not(x, to Vreg) { a.Code.Op("KNOTW", vasm.Use(x), vasm.Def(to)) }

func (a avx512) Test(m Vreg) { a.Code.Op("KORTESTW", vasm.Use(m), vasm.Use(m)) }

func (a avx512) UnlessAll(m Vreg, label string) {
	a.Test(m)
	a.Code.Jump("JCC", label) // the carry says that all lanes are set
}

func (a avx512) Bits(m Vreg) Vreg {
	n := a.Code.Reg(vasm.Integer)
	a.Code.Op("KMOVW", vasm.Use(m), vasm.Def(n))
	return n
}

func (a avx512) Truth(n, m Vreg) { a.Code.Op("KMOVW", vasm.Use(n), vasm.Def(m)) }

func (a avx512) Odd(x, m Vreg) {
	a.Code.Op("VPTESTMD", vasm.Use(a.Constant(1, false)), vasm.Use(x), vasm.Def(m))
}

func (a avx512) Half(m Vreg, i int) Vreg {
	if m == 0 || i == 0 {
		return m
	}
	h := a.Mask()
	a.Code.Op("KSHIFTRW", vasm.Imm(8), vasm.Use(m), vasm.Def(h))
	return h
}

func (a avx512) Join(low, high, m Vreg) {
	a.Code.Op("KUNPCKBW", vasm.Use(low), vasm.Use(high), vasm.Def(m))
}

func (a avx512) Compare(op ir.Op, p Pair) {
	names := [2]string{"VPCMPD", "VPCMPQ"}
	switch {
	case op >= ir.OpFEq:
		names = [2]string{"VCMPPS", "VCMPPD"}
	case op == ir.OpULt || op == ir.OpULe:
		names = [2]string{"VPCMPUD", "VPCMPUQ"}
	}
	a.Code.Op(Pick(names, p.Wide), vasm.Imm(predicates[op]), vasm.Use(p.Y), vasm.Use(p.X), vasm.Def(p.To))
}

func (a avx512) Blend(m Vreg, p Pair) {
	a.Code.Op(Pick([2]string{"VPBLENDMD", "VPBLENDMQ"}, p.Wide), vasm.Use(p.X), vasm.Use(p.Y), vasm.Use(m), vasm.Def(p.To))
}

func (a avx512) Mix(m, x, to Vreg, wide bool) {
	a.Code.Op(Pick([2]string{"VMOVDQA32", "VMOVDQA64"}, wide), vasm.Use(x), vasm.Use(m), vasm.Mod(to))
}

func (a avx512) Only(m, x, to Vreg, wide bool) {
	a.Code.Op(Pick([2]string{"VMOVDQA32.Z", "VMOVDQA64.Z"}, wide), vasm.Use(x), vasm.Use(m), vasm.Def(to))
}

func (a avx512) Load(at vasm.Operand, m, to Vreg, e Element) {
	name, masked := "VMOVUPS", Pick([2]string{"VMOVUPS.Z", "VMOVUPD.Z"}, e.Size == 8)
	if e.Size < 4 {
		name, masked = extensions[e], extensions[e]+".Z"
	}
	if m == 0 {
		a.Code.Op(name, at, vasm.Def(to))
	} else {
		a.Code.Op(masked, at, vasm.Use(m), vasm.Def(to))
	}
}

func (a avx512) Store(x Vreg, at vasm.Operand, m Vreg, size int64) {
	switch {
	case m == 0 && size == 1:
		a.Code.Op("VMOVDQU32", vasm.Use(a.pack(x, size)).Word(), at)
	case m == 0 && size == 2:
		a.Code.Op("VMOVDQU32", vasm.Use(a.pack(x, size)).Half(), at)
	case m == 0:
		a.Code.Op("VMOVUPS", vasm.Use(x), at)
	default:
		a.Code.Op(map[int64]string{1: "VPMOVDB", 2: "VPMOVDW", 4: "VMOVUPS", 8: "VMOVUPD"}[size], vasm.Use(x), vasm.Use(m), at)
	}
}

// copyOf returns a copy of a half of m, or of all lanes for 0.
func (a avx512) copyOf(m Vreg, i int) Vreg {
	k := a.Mask()
	if m != 0 {
		a.CopyMask(a.Half(m, i), k)
	} else {
		a.All(k)
	}
	return k
}

func (a avx512) Gather(at [2]Vreg, m Vreg, to [2]Vreg, wide bool) {
	zero := a.Number(0)
	for i := range 2 {
		k, part := a.copyOf(m, i), a.Vector()
		a.Code.Op("VPXORQ", vasm.Def(part), vasm.Def(part), vasm.Def(part))
		if wide {
			a.Code.Op("VGATHERQPD", vasm.Vectored(zero, at[i]), vasm.Mod(k), vasm.Mod(part).Soon())
			a.Code.Op("VMOVUPS", vasm.Use(part), vasm.Def(to[i]))
			continue
		}
		a.Code.Op("VGATHERQPS", vasm.Vectored(zero, at[i]), vasm.Mod(k), vasm.Mod(part).Half().Soon())
		if i == 0 {
			a.Code.Op("VMOVUPS", vasm.Use(part), vasm.Def(to[0]))
		} else {
			a.Code.Op(a.insert, vasm.Imm(1), vasm.Use(part).Half(), vasm.Use(to[0]), vasm.Def(to[0]))
		}
	}
}

func (a avx512) Scatter(x, at [2]Vreg, m Vreg, size int64) {
	if size < 4 {
		a.scatterEach(x, at, m, size)
		return
	}
	wide := size == 8
	zero := a.Number(0)
	for i := range 2 {
		k := a.copyOf(m, i)
		if wide {
			a.Code.Op("VSCATTERQPD", vasm.Use(x[i]), vasm.Mod(k), vasm.Vectored(zero, at[i]))
			continue
		}
		part := x[0]
		if i == 1 {
			part = a.Vector()
			a.Code.Op(a.extract, vasm.Imm(1), vasm.Use(x[0]), vasm.Def(part).Half())
		}
		a.Code.Op("VSCATTERQPS", vasm.Use(part).Half(), vasm.Mod(k), vasm.Vectored(zero, at[i]))
	}
}

func (a avx512) Broadcast(n, to Vreg, wide bool) {
	a.Code.Op(Pick([2]string{"VPBROADCASTD", "VPBROADCASTQ"}, wide), vasm.Use(n), vasm.Def(to))
}

func (a avx512) Steps(i int, stride int64, to Vreg) {
	by, n := a.Constant(stride, true), a.Number(0x0706050403020100+int64(i)*0x0808080808080808)
	a.Code.Op("VMOVQ", vasm.Use(n), vasm.Def(to).Word())
	a.Code.Op("VPMOVZXBQ", vasm.Use(to).Word(), vasm.Def(to))
	a.Code.Op("VPMULLQ", vasm.Use(by), vasm.Use(to), vasm.Def(to))
}

func (a avx512) Count(to Vreg) {
	low, high := a.Number(0x0706050403020100), a.Number(0x0f0e0d0c0b0a0908)
	a.Code.Op("VMOVQ", vasm.Use(low), vasm.Def(to).Word())
	a.Code.Op("VPINSRQ", vasm.Imm(1), vasm.Use(high), vasm.Use(to).Word(), vasm.Def(to).Word())
	a.Code.Op("VPMOVZXBD", vasm.Use(to).Word(), vasm.Def(to))
}

func (a avx512) Binary(op ir.Op, p Pair) { a.pair(Pick(BinaryLanes[op], p.Wide), p) }

func (a avx512) Times(x Vreg, n int64, to Vreg) {
	a.Binary(ir.OpMul, Pair{x, a.Constant(n, true), to, true})
}

func (a avx512) Round(op ir.Op, x, to Vreg, wide bool) {
	a.Code.Op(Pick([2]string{"VRNDSCALEPS", "VRNDSCALEPD"}, wide), vasm.Imm(Roundings[op]), vasm.Use(x), vasm.Def(to))
}

func (a avx512) Extreme(op ir.Op, p Pair) {
	code := map[ir.Op]int64{ir.OpFMin: 4, ir.OpFMax: 5}[op]
	t, m := a.Vector(), a.Mask()
	x, y := vasm.Use(p.X), vasm.Use(p.Y)
	a.Code.Op(Pick([2]string{"VRANGEPS", "VRANGEPD"}, p.Wide), vasm.Imm(code), y, x, vasm.Def(t))
	a.Code.Op(Pick([2]string{"VCMPPS", "VCMPPD"}, p.Wide), vasm.Imm(notOrdered), y, x, vasm.Def(m))
	a.Code.Op(Pick([2]string{"VADDPS", "VADDPD"}, p.Wide), y, x, vasm.Use(m), vasm.Mod(t))
	a.Code.Op("VMOVUPS", vasm.Use(t), vasm.Def(p.To))
}

func (a avx512) Convert(v *ir.Value, x, to [2]Vreg) bool {
	from, wide := IsWide(v.Args[0].Type), IsWide(v.Type)
	op := conversion512(v.Op, from, wide)
	switch {
	case op == "":
		return false
	case from == wide:
		for i := range 2 {
			if to[i] != 0 {
				a.Code.Op(op, vasm.Use(x[i]), vasm.Def(to[i]))
			}
		}
	case wide:
		a.Extend(op, x[0], to)
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

func (a avx512) Integer(x, to Vreg, wide bool) {
	a.Code.Op(Pick([2]string{"VCVTTPS2DQ", "VCVTTPD2QQ"}, wide), vasm.Use(x), vasm.Def(to))
}

func (a avx512) Floats(x Vreg, signed bool) [2]Vreg {
	if signed {
		return a.Extended("VCVTDQ2PD", x)
	}
	return a.Extended("VCVTUDQ2PD", x)
}

func (a avx512) Integers(x [2]Vreg, signed bool, to Vreg) {
	if signed {
		a.shorten("VCVTTPD2DQ", x, to)
	} else {
		a.shorten("VCVTTPD2UDQ", x, to)
	}
}

func (a avx512) Truncate(low, high, to Vreg) { a.shorten("VPMOVQD", [2]Vreg{low, high}, to) }

func (a avx512) pack(x Vreg, size int64) Vreg {
	to := a.Vector()
	if size == 1 {
		a.Code.Op("VPMOVDB", vasm.Use(x), vasm.Def(to).Word())
	} else {
		a.Code.Op("VPMOVDW", vasm.Use(x), vasm.Def(to).Half())
	}
	return to
}

func (a avx512) FromF16(x, to Vreg) {
	a.Code.Op("VCVTPH2PS", vasm.Use(a.pack(x, 2)).Half(), vasm.Def(to))
}

func (a avx512) ToF16(x, to Vreg) {
	packed := a.Vector()
	a.Code.Op("VCVTPS2PH", vasm.Imm(0), vasm.Use(x), vasm.Def(packed).Half())
	a.Code.Op("VPMOVZXWD", vasm.Use(packed).Half(), vasm.Def(to))
}
