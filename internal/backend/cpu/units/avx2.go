package units

import (
	"math"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// avx2 is AVX2 with FMA: 8 lanes. A mask is a vector whose lanes are all ones or all zeros, of 32 bits, or
// of 64 in its halves. What the processor has no instruction for is written with others.
type avx2 struct {
	*Assembler
	halves map[Vreg][2]Vreg // what masks were joined of
}

func (avx2) Lanes() int { return 8 }

func (avx2) Name() string { return "AVX2" }

func (a avx2) Mask() Vreg { return a.Vector() }

func (a avx2) None(m Vreg) { a.Code.Op("VPXOR", vasm.Def(m), vasm.Def(m), vasm.Def(m)) }

func (a avx2) All(m Vreg) { a.Code.Op("VPCMPEQD", vasm.Def(m), vasm.Def(m), vasm.Def(m)) }

func (a avx2) CopyMask(from, to Vreg) { a.Code.Op("VMOVUPS", vasm.Use(from), vasm.Def(to)) }

func (a avx2) Logic(op MaskOp, x, y, to Vreg) {
	names := [...]string{MaskAnd: "VPAND", MaskWithout: "VPANDN", MaskOr: "VPOR", MaskXor: "VPXOR", MaskSame: "VPXOR"}
	if op != MaskSame {
		a.Code.Op(names[op], vasm.Use(x), vasm.Use(y), vasm.Def(to))
		return
	}
	a.Not(a.Two(names[op], x, y), to)
}

func (a avx2) Not(x, to Vreg) {
	ones := a.Mask()
	a.All(ones)
	a.Code.Op("VPXOR", vasm.Use(ones), vasm.Use(x), vasm.Def(to))
}

func (a avx2) Test(m Vreg) { a.Code.Op("VPTEST", vasm.Use(m), vasm.Use(m)) }

func (a avx2) UnlessAll(m Vreg, label string) {
	a.Code.Op("CMPL", vasm.Use(a.Bits(m)), vasm.Imm(1<<8-1))
	a.Code.Jump("JNE", label)
}

// Bits returns a bit for each lane of m.
func (a avx2) Bits(m Vreg) Vreg {
	n := a.Code.Reg(vasm.Integer)
	a.Code.Op("VMOVMSKPS", vasm.Use(m), vasm.Def(n))
	return n
}

func (a avx2) Truth(n, m Vreg) { a.Broadcast(n, m, false) }

func (a avx2) Odd(x, m Vreg) {
	a.Code.Op("VPSRAD", vasm.Imm(31), vasm.Use(a.Shifted("VPSLLD", 31, x)), vasm.Def(m))
}

func (a avx2) Half(m Vreg, i int) Vreg {
	if m == 0 {
		return 0
	}
	if h, ok := a.halves[m]; ok {
		return h[i]
	}
	return a.result("VPMOVSXDQ", vasm.Use(a.low(m, i)).Half())
}

// low returns a register whose lower half is half i of x.
func (a avx2) low(x Vreg, i int) Vreg {
	if i == 0 {
		return x
	}
	high := a.Vector()
	a.Code.Op(a.extract, vasm.Imm(1), vasm.Use(x), vasm.Def(high).Half())
	return high
}

func (a avx2) Join(low, high, m Vreg) {
	a.halves[m] = [2]Vreg{low, high}
	a.Truncate(low, high, m)
}

// Truncate takes the lower halves of lanes of 64 bits.
func (a avx2) Truncate(low, high, to Vreg) {
	mixed := a.result("VSHUFPS", vasm.Imm(0x88), vasm.Use(high), vasm.Use(low)) // two of the one, two of the other, and again
	a.Code.Op("VPERMQ", vasm.Imm(0xd8), vasm.Use(mixed), vasm.Def(to))
}

func (a avx2) Compare(op ir.Op, p Pair) {
	equal, greater, sign := "VPCMPEQD", "VPCMPGTD", int64(math.MinInt32)
	if p.Wide {
		equal, greater, sign = "VPCMPEQQ", "VPCMPGTQ", math.MinInt64
	}
	x, y := p.X, p.Y
	switch op {
	case ir.OpULt, ir.OpULe: // in the order of numbers with a sign, where that is the other one
		flip := a.Constant(sign, p.Wide)
		x, y = a.Two("VPXOR", x, flip), a.Two("VPXOR", y, flip)
	}
	switch op {
	case ir.OpEq:
		a.pair(equal, p)
	case ir.OpNe:
		a.Not(a.Two(equal, x, y), p.To)
	case ir.OpSLt, ir.OpULt:
		a.pair(greater, Pair{X: y, Y: x, To: p.To})
	case ir.OpSLe, ir.OpULe:
		a.Not(a.Two(greater, x, y), p.To)
	default:
		a.Code.Op(Pick([2]string{"VCMPPS", "VCMPPD"}, p.Wide), vasm.Imm(predicates[op]), vasm.Use(y), vasm.Use(x), vasm.Def(p.To))
	}
}

func (a avx2) Blend(m Vreg, p Pair) {
	a.Code.Op("VBLENDVPS", vasm.Use(m), vasm.Use(p.X), vasm.Use(p.Y), vasm.Def(p.To))
}

func (a avx2) Mix(m, x, to Vreg, wide bool) { a.Blend(m, Pair{x, to, to, wide}) }

func (a avx2) Only(m, x, to Vreg, _ bool) {
	a.Code.Op("VPAND", vasm.Use(x), vasm.Use(m), vasm.Def(to))
}

func (a avx2) Load(at vasm.Operand, m, to Vreg, e Element) {
	switch {
	case e.Size < 4 && m == 0:
		a.Code.Op(extensions[e], at, vasm.Def(to))
	case e.Size < 4:
		packed := a.Vector()
		a.None(packed)
		insert := map[int64]string{1: "VPINSRB", 2: "VPINSRW"}[e.Size]
		a.each(m, func(lane int) {
			a.Code.Op(insert, vasm.Imm(int64(lane)), at.Behind(int64(lane)*e.Size), vasm.Use(packed).Word(), vasm.Def(packed).Word())
		})
		a.Code.Op(extensions[e], vasm.Use(packed).Word(), vasm.Def(to))
	case m == 0:
		a.Code.Op("VMOVUPS", at, vasm.Def(to))
	default:
		a.Code.Op("VMASKMOVPS", at, vasm.Use(m), vasm.Def(to))
	}
}

func (a avx2) Store(x Vreg, at vasm.Operand, m Vreg, size int64) {
	switch {
	case size < 4 && m == 0:
		a.Code.Op(map[int64]string{1: "VMOVQ", 2: "VMOVUPS"}[size], vasm.Use(a.pack(x, size)).Word(), at)
	case size < 4:
		packed := a.pack(x, size)
		a.each(m, func(lane int) {
			a.Code.Op(extractions[size], vasm.Imm(int64(lane)), vasm.Use(packed).Word(), at.Behind(int64(lane)*size))
		})
	case m == 0:
		a.Code.Op("VMOVUPS", vasm.Use(x), at)
	default:
		a.Code.Op("VMASKMOVPS", vasm.Use(x), vasm.Use(m), at)
	}
}

func (a avx2) Gather(at [2]Vreg, m Vreg, to [2]Vreg, wide bool) {
	zero := a.Number(0)
	var parts [2]Vreg
	for i := range 2 {
		k, part := a.Mask(), a.Vector()
		switch {
		case m == 0:
			a.All(k)
		case wide:
			a.CopyMask(a.Half(m, i), k)
		default:
			a.CopyMask(a.low(m, i), k)
		}
		a.None(part)
		if wide {
			a.Code.Op("VGATHERQPD", vasm.Mod(k), vasm.Vectored(zero, at[i]), vasm.Mod(part))
			a.CopyMask(part, to[i])
		} else {
			a.Code.Op("VGATHERQPS", vasm.Mod(k).Half(), vasm.Vectored(zero, at[i]), vasm.Mod(part).Half())
		}
		parts[i] = part
	}
	if !wide {
		a.Code.Op(a.insert, vasm.Imm(1), vasm.Use(parts[1]).Half(), vasm.Use(parts[0]), vasm.Def(to[0]))
	}
}

func (a avx2) Scatter(x, at [2]Vreg, m Vreg, size int64) { a.scatterEach(x, at, m, size) }

func (a avx2) Broadcast(n, to Vreg, wide bool) {
	first := a.Vector()
	a.Code.Op(Pick([2]string{"VMOVD", "VMOVQ"}, wide), vasm.Use(n), vasm.Def(first).Word())
	a.Code.Op(Pick([2]string{"VPBROADCASTD", "VPBROADCASTQ"}, wide), vasm.Use(first).Word(), vasm.Def(to))
}

func (a avx2) Steps(i int, stride int64, to Vreg) {
	n, count := a.Number(0x03020100+int64(i)*0x04040404), to
	if stride != 1 {
		count = a.Vector()
	}
	a.Code.Op("VMOVQ", vasm.Use(n), vasm.Def(count).Word())
	a.Code.Op("VPMOVZXBQ", vasm.Use(count).Word(), vasm.Def(count))
	if stride != 1 {
		a.Times(count, stride, to)
	}
}

func (a avx2) Count(to Vreg) {
	a.Code.Op("VMOVQ", vasm.Use(a.Number(0x0706050403020100)), vasm.Def(to).Word())
	a.Code.Op("VPMOVZXBD", vasm.Use(to).Word(), vasm.Def(to))
}

// logicLanes2 are the instructions that have other names with AVX-512, for any lanes.
var logicLanes2 = map[ir.Op]string{ir.OpAnd: "VPAND", ir.OpOr: "VPOR", ir.OpXor: "VPXOR"}

func (a avx2) Binary(op ir.Op, p Pair) {
	name := Pick(BinaryLanes[op], p.Wide)
	if logic := logicLanes2[op]; logic != "" {
		name = logic
	}
	switch name {
	case "VPMULLQ":
		a.product(p.X, p.Y, p.To)
	case "VPSRAVQ": // of numbers below 0 the rest is shifted
		sign := a.Vector()
		a.None(sign)
		below := a.Two("VPCMPGTQ", sign, p.X)
		shifted := a.Two("VPSRLVQ", a.Two("VPXOR", p.X, below), p.Y)
		a.pair("VPXOR", Pair{X: shifted, Y: below, To: p.To})
	default:
		a.pair(name, p)
	}
}

// product multiplies integers of 64 bits: the product of the lower halves, and above it the lower halves of
// what each half gives with the other's.
func (a avx2) product(x, y, to Vreg) {
	crossed := a.Two("VPMULLD", x, a.result("VPSHUFD", vasm.Imm(0xb1), vasm.Use(y)))
	sum := a.Two("VPADDQ", crossed, a.Shifted("VPSRLQ", 32, crossed))
	high := a.Shifted("VPSLLQ", 32, sum)
	low := a.Two("VPMULUDQ", x, y)
	a.pair("VPADDQ", Pair{X: low, Y: high, To: to})
}

func (a avx2) Times(x Vreg, n int64, to Vreg) {
	if n > 0 && n&(n-1) == 0 {
		a.Code.Op("VPSLLQ", vasm.Imm(int64(bits.TrailingZeros64(uint64(n)))), vasm.Use(x), vasm.Def(to))
		return
	}
	a.product(x, a.Constant(n, true), to)
}
