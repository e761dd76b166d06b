package cpu

import (
	"math"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// avx2 is AVX2 with FMA: 8 lanes. A mask is a vector whose lanes are all ones or all zeros, of 32 bits, or
// of 64 in its halves. What the processor has no instruction for is written with others.
type avx2 struct {
	*assembler
	halves map[vreg][2]vreg // what masks were joined of
}

func (avx2) lanes() int { return 8 }

func (avx2) name() string { return "AVX2" }

func (a avx2) mask() vreg { return a.vector() }

func (a avx2) none(m vreg) { a.code.Op("VPXOR", vasm.Def(m), vasm.Def(m), vasm.Def(m)) }

func (a avx2) all(m vreg) { a.code.Op("VPCMPEQD", vasm.Def(m), vasm.Def(m), vasm.Def(m)) }

func (a avx2) copyMask(from, to vreg) { a.code.Op("VMOVUPS", vasm.Use(from), vasm.Def(to)) }

func (a avx2) logic(op maskOp, x, y, to vreg) {
	names := [...]string{maskAnd: "VPAND", maskWithout: "VPANDN", maskOr: "VPOR", maskXor: "VPXOR", maskSame: "VPXOR"}
	if op != maskSame {
		a.code.Op(names[op], vasm.Use(x), vasm.Use(y), vasm.Def(to))
		return
	}
	a.not(a.two(names[op], x, y), to)
}

func (a avx2) not(x, to vreg) {
	ones := a.mask()
	a.all(ones)
	a.code.Op("VPXOR", vasm.Use(ones), vasm.Use(x), vasm.Def(to))
}

func (a avx2) test(m vreg) { a.code.Op("VPTEST", vasm.Use(m), vasm.Use(m)) }

func (a avx2) unlessAll(m vreg, label string) {
	a.code.Op("CMPL", vasm.Use(a.bits(m)), vasm.Imm(1<<8-1))
	a.code.Jump("JNE", label)
}

// bits returns a bit for each lane of m.
func (a avx2) bits(m vreg) vreg {
	n := a.code.Reg(vasm.Integer)
	a.code.Op("VMOVMSKPS", vasm.Use(m), vasm.Def(n))
	return n
}

func (a avx2) truth(n, m vreg) { a.broadcast(n, m, false) }

func (a avx2) odd(x, m vreg) {
	a.code.Op("VPSRAD", vasm.Imm(31), vasm.Use(a.shifted("VPSLLD", 31, x)), vasm.Def(m))
}

func (a avx2) half(m vreg, i int) vreg {
	if m == 0 {
		return 0
	}
	if h, ok := a.halves[m]; ok {
		return h[i]
	}
	return a.result("VPMOVSXDQ", vasm.Use(a.low(m, i)).Half())
}

// low returns a register whose lower half is half i of x.
func (a avx2) low(x vreg, i int) vreg {
	if i == 0 {
		return x
	}
	high := a.vector()
	a.code.Op(a.extract, vasm.Imm(1), vasm.Use(x), vasm.Def(high).Half())
	return high
}

func (a avx2) join(low, high, m vreg) {
	a.halves[m] = [2]vreg{low, high}
	a.truncate(low, high, m)
}

// truncate takes the lower halves of lanes of 64 bits.
func (a avx2) truncate(low, high, to vreg) {
	mixed := a.result("VSHUFPS", vasm.Imm(0x88), vasm.Use(high), vasm.Use(low)) // two of the one, two of the other, and again
	a.code.Op("VPERMQ", vasm.Imm(0xd8), vasm.Use(mixed), vasm.Def(to))
}

func (a avx2) compare(op ir.Op, p pair) {
	equal, greater, sign := "VPCMPEQD", "VPCMPGTD", int64(math.MinInt32)
	if p.wide {
		equal, greater, sign = "VPCMPEQQ", "VPCMPGTQ", math.MinInt64
	}
	x, y := p.x, p.y
	switch op {
	case ir.OpULt, ir.OpULe: // in the order of numbers with a sign, where that is the other one
		flip := a.constant(sign, p.wide)
		x, y = a.two("VPXOR", x, flip), a.two("VPXOR", y, flip)
	}
	switch op {
	case ir.OpEq:
		a.pair(equal, p)
	case ir.OpNe:
		a.not(a.two(equal, x, y), p.to)
	case ir.OpSLt, ir.OpULt:
		a.pair(greater, pair{x: y, y: x, to: p.to})
	case ir.OpSLe, ir.OpULe:
		a.not(a.two(greater, x, y), p.to)
	default:
		a.code.Op(pick([2]string{"VCMPPS", "VCMPPD"}, p.wide), vasm.Imm(predicates[op]), vasm.Use(y), vasm.Use(x), vasm.Def(p.to))
	}
}

func (a avx2) blend(m vreg, p pair) {
	a.code.Op("VBLENDVPS", vasm.Use(m), vasm.Use(p.x), vasm.Use(p.y), vasm.Def(p.to))
}

func (a avx2) mix(m, x, to vreg, wide bool) { a.blend(m, pair{x, to, to, wide}) }

func (a avx2) only(m, x, to vreg, _ bool) {
	a.code.Op("VPAND", vasm.Use(x), vasm.Use(m), vasm.Def(to))
}

func (a avx2) load(at vasm.Operand, m, to vreg, e element) {
	switch {
	case e.size < 4 && m == 0:
		a.code.Op(extensions[e], at, vasm.Def(to))
	case e.size < 4:
		packed := a.vector()
		a.none(packed)
		insert := map[int64]string{1: "VPINSRB", 2: "VPINSRW"}[e.size]
		a.each(m, func(lane int) {
			a.code.Op(insert, vasm.Imm(int64(lane)), at.Behind(int64(lane)*e.size), vasm.Use(packed).Word(), vasm.Def(packed).Word())
		})
		a.code.Op(extensions[e], vasm.Use(packed).Word(), vasm.Def(to))
	case m == 0:
		a.code.Op("VMOVUPS", at, vasm.Def(to))
	default:
		a.code.Op("VMASKMOVPS", at, vasm.Use(m), vasm.Def(to))
	}
}

func (a avx2) store(x vreg, at vasm.Operand, m vreg, size int64) {
	switch {
	case size < 4 && m == 0:
		a.code.Op(map[int64]string{1: "VMOVQ", 2: "VMOVUPS"}[size], vasm.Use(a.pack(x, size)).Word(), at)
	case size < 4:
		packed := a.pack(x, size)
		a.each(m, func(lane int) {
			a.code.Op(extractions[size], vasm.Imm(int64(lane)), vasm.Use(packed).Word(), at.Behind(int64(lane)*size))
		})
	case m == 0:
		a.code.Op("VMOVUPS", vasm.Use(x), at)
	default:
		a.code.Op("VMASKMOVPS", vasm.Use(x), vasm.Use(m), at)
	}
}

func (a avx2) gather(at [2]vreg, m vreg, to [2]vreg, wide bool) {
	zero := a.number(0)
	var parts [2]vreg
	for i := range 2 {
		k, part := a.mask(), a.vector()
		switch {
		case m == 0:
			a.all(k)
		case wide:
			a.copyMask(a.half(m, i), k)
		default:
			a.copyMask(a.low(m, i), k)
		}
		a.none(part)
		if wide {
			a.code.Op("VGATHERQPD", vasm.Mod(k), vasm.Vectored(zero, at[i]), vasm.Mod(part))
			a.copyMask(part, to[i])
		} else {
			a.code.Op("VGATHERQPS", vasm.Mod(k).Half(), vasm.Vectored(zero, at[i]), vasm.Mod(part).Half())
		}
		parts[i] = part
	}
	if !wide {
		a.code.Op(a.insert, vasm.Imm(1), vasm.Use(parts[1]).Half(), vasm.Use(parts[0]), vasm.Def(to[0]))
	}
}

func (a avx2) scatter(x, at [2]vreg, m vreg, size int64) { a.scatterEach(x, at, m, size) }

func (a avx2) broadcast(n, to vreg, wide bool) {
	first := a.vector()
	a.code.Op(pick([2]string{"VMOVD", "VMOVQ"}, wide), vasm.Use(n), vasm.Def(first).Word())
	a.code.Op(pick([2]string{"VPBROADCASTD", "VPBROADCASTQ"}, wide), vasm.Use(first).Word(), vasm.Def(to))
}

func (a avx2) steps(i int, stride int64, to vreg) {
	n, count := a.number(0x03020100+int64(i)*0x04040404), to
	if stride != 1 {
		count = a.vector()
	}
	a.code.Op("VMOVQ", vasm.Use(n), vasm.Def(count).Word())
	a.code.Op("VPMOVZXBQ", vasm.Use(count).Word(), vasm.Def(count))
	if stride != 1 {
		a.times(count, stride, to)
	}
}

func (a avx2) count(to vreg) {
	a.code.Op("VMOVQ", vasm.Use(a.number(0x0706050403020100)), vasm.Def(to).Word())
	a.code.Op("VPMOVZXBD", vasm.Use(to).Word(), vasm.Def(to))
}

// logicLanes2 are the instructions that have other names with AVX-512, for any lanes.
var logicLanes2 = map[ir.Op]string{ir.OpAnd: "VPAND", ir.OpOr: "VPOR", ir.OpXor: "VPXOR"}

func (a avx2) binary(op ir.Op, p pair) {
	name := pick(binaryLanes[op], p.wide)
	if logic := logicLanes2[op]; logic != "" {
		name = logic
	}
	switch name {
	case "VPMULLQ":
		a.product(p.x, p.y, p.to)
	case "VPSRAVQ": // of numbers below 0 the rest is shifted
		sign := a.vector()
		a.none(sign)
		below := a.two("VPCMPGTQ", sign, p.x)
		shifted := a.two("VPSRLVQ", a.two("VPXOR", p.x, below), p.y)
		a.pair("VPXOR", pair{x: shifted, y: below, to: p.to})
	default:
		a.pair(name, p)
	}
}

// product multiplies integers of 64 bits: the product of the lower halves, and above it the lower halves of
// what each half gives with the other's.
func (a avx2) product(x, y, to vreg) {
	crossed := a.two("VPMULLD", x, a.result("VPSHUFD", vasm.Imm(0xb1), vasm.Use(y)))
	sum := a.two("VPADDQ", crossed, a.shifted("VPSRLQ", 32, crossed))
	high := a.shifted("VPSLLQ", 32, sum)
	low := a.two("VPMULUDQ", x, y)
	a.pair("VPADDQ", pair{x: low, y: high, to: to})
}

func (a avx2) times(x vreg, n int64, to vreg) {
	if n > 0 && n&(n-1) == 0 {
		a.code.Op("VPSLLQ", vasm.Imm(int64(bits.TrailingZeros64(uint64(n)))), vasm.Use(x), vasm.Def(to))
		return
	}
	a.product(x, a.constant(n, true), to)
}
