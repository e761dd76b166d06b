package cpu

import (
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// value writes what v does.
func (z *vectorizer) value(v *ir.Value) {
	switch {
	case z.keep[v.ID] == keepBlock:
		panic(scalar("a variable of the block is set"))
	case v.Op == ir.OpPhi:
		if z.keeps(v) && !z.keptAtEnd(v) {
			panic(scalar("a phi is kept"))
		}
		return
	case v.Op == ir.OpAlloca && z.memory.apart[v] && v.Imm != 1:
		panic(scalar("a variable that other regions use begins as zero"))
	case z.level[v.ID] < perThread || v.Op.Terminator() || v.Op == ir.OpAlloca || v.Op == ir.OpBarrier || trivial(v) && v.Op != ir.OpZExt && v.Op != ir.OpSExt && v.Op != ir.OpBitcast:
		return
	case v.Op == ir.OpCheck:
		z.check(v)
		return
	case v.Op == ir.OpStore:
		z.store(v)
		z.wrote = true
		return
	case v.Op == ir.OpLoad:
		z.load(v)
	case !v.Op.Pure():
		panic(scalar(words(v.Op)))
	case z.isDecided(v):
		return
	case z.agreeing[v]:
		z.agreement(v)
		if z.keep[v.ID] == keepNot && !slices.ContainsFunc(z.users[v.ID], func(u *ir.Value) bool { return !z.tests(u, v) }) {
			return
		}
		z.pure(v)
	case z.keep[v.ID] == keepNot && !slices.ContainsFunc(z.users[v.ID], func(u *ir.Value) bool { return !z.tests(u, v) }):
		return
	default:
		z.pure(v)
	}
	if z.keeps(v) && !z.keptAtEnd(v) {
		z.storeLanes(z.vectorOf(v), isWide(v.Type), vasm.Mem(z.keptAddress(v), 0), z.activeMask())
	}
}

// words says what op is where there is a plain word for it.
func words(op ir.Op) string {
	switch {
	case op == ir.OpSDiv || op == ir.OpUDiv:
		return "a division of integers"
	case op == ir.OpSRem || op == ir.OpURem:
		return "a remainder of integers"
	case op.Atomic():
		return "an atomic operation"
	}
	return op.String()
}

// tests reports whether u is a branch that compares the operands of v itself.
func (z *vectorizer) tests(u, v *ir.Value) bool {
	_, ok := jumpIf[v.Op]
	return ok && (u.Op == ir.OpIf || u.Op == ir.OpCheck) && z.shape(v).kind == uniform && v.Args[0].Type.Kind != ir.KindI1 && z.nodes[u.Block] != nil && (u.Op == ir.OpCheck || z.jumps(z.nodes[u.Block]))
}

func (z *vectorizer) pure(v *ir.Value) {
	if len(v.Args) == 0 {
		panic(scalar(words(v.Op)))
	}
	r := z.target(v)
	switch {
	case r.kind == uniform || r.kind == affine:
		z.integerOp(v, r.reg[0])
		return
	case v.Op >= ir.OpEq && v.Op <= ir.OpFLe:
		z.compareLanes(v, r.reg[0])
	case v.Type.Kind == ir.KindI1:
		z.logicLanes(v, r.reg[0])
	case v.Op == ir.OpSelect:
		z.selectLanes(v, r)
	case v.Op >= ir.OpTrunc && v.Op <= ir.OpBitcast:
		z.convertLanes(v, r)
	case v.Type.IsFloat():
		z.floatLanes(v, r)
	default:
		z.intLanes(v, r)
	}
	z.settle(v, r)
}

// target returns where v is computed: its registers, or others where lanes that do not run here have theirs.
func (z *vectorizer) target(v *ir.Value) *vector {
	r := z.result(v)
	if !z.sticky[v] || z.activeMask() == 0 || r.kind != varying {
		return r
	}
	t := &vector{shape: r.shape}
	c := vasm.Vector
	if v.Type.Kind == ir.KindI1 {
		c = vasm.Mask
	}
	t.reg[0] = z.code.Reg(c)
	if r.reg[1] != 0 {
		t.reg[1] = z.code.Reg(c)
	}
	return t
}

// settle brings v from where it was computed to its registers.
func (z *vectorizer) settle(v *ir.Value, from *vector) {
	r := z.result(v)
	if r == from {
		return
	}
	if v.Type.Kind == ir.KindI1 {
		panic(scalar("a truth value outlives a loop"))
	}
	m := z.activeMask()
	for i, to := range z.regs(r, v) {
		op := "VMOVDQA32"
		if isWide(v.Type) {
			op = "VMOVDQA64"
		}
		z.code.Op(op, vasm.Use(from.reg[i]), vasm.Use(z.half(m, i)), vasm.Mod(to))
	}
}

var integerOps = map[ir.Op][2]string{
	ir.OpAdd: {"ADDL", "ADDQ"}, ir.OpSub: {"SUBL", "SUBQ"}, ir.OpMul: {"IMULL", "IMULQ"},
	ir.OpAnd: {"ANDL", "ANDQ"}, ir.OpOr: {"ORL", "ORQ"}, ir.OpXor: {"XORL", "XORQ"},
}

var integerShifts = map[ir.Op][2]string{ir.OpShl: {"SHLL", "SHLQ"}, ir.OpLShr: {"SHRL", "SHRQ"}, ir.OpAShr: {"SARL", "SARQ"}}

var setIf = map[ir.Op]string{
	ir.OpEq: "SETEQ", ir.OpNe: "SETNE", ir.OpSLt: "SETLT", ir.OpSLe: "SETLE", ir.OpULt: "SETCS", ir.OpULe: "SETLS",
}

func pick(names [2]string, wide bool) string {
	if wide {
		return names[1]
	}
	return names[0]
}

// integerOp computes a uniform value, or the first lane's of an affine one.
func (z *vectorizer) integerOp(v *ir.Value, to vreg) {
	c, wide := z.code, isWide(v.Type)
	x := z.integerOf(v.Args[0])
	if names, ok := integerOps[v.Op]; ok {
		if v.Type.Kind != ir.KindI1 && v.Type.Bits() < 32 {
			panic(scalar("an integer of 8 or 16 bits"))
		}
		if wide && v.Op == ir.OpAdd {
			z.add(x, v.Args[1], to)
			return
		}
		y := z.integerOf(v.Args[1])
		c.Op("MOVQ", vasm.Use(x), vasm.Def(to).Soon())
		c.Op(pick(names, wide), vasm.Use(y), vasm.Mod(to))
		return
	}
	if names, ok := integerShifts[v.Op]; ok {
		n := v.Args[1]
		if n.Op != ir.OpConst || uint32(n.Imm) >= uint32(v.Type.Bits()) || v.Type.Bits() < 32 {
			panic(scalar("a shift by a variable"))
		}
		c.Op("MOVQ", vasm.Use(x), vasm.Def(to))
		c.Op(pick(names, wide), vasm.Imm(n.Imm), vasm.Mod(to))
		return
	}
	switch v.Op {
	case ir.OpOffset:
		c.Op("LEAQ", vasm.Mem(x, v.Imm), vasm.Def(to))
	case ir.OpBitcast:
		c.Op("MOVQ", vasm.Use(x), vasm.Def(to))
	case ir.OpIndex:
		z.indexOp(v, x, to)
	case ir.OpSExt, ir.OpZExt, ir.OpTrunc:
		z.resizeOp(v, x, to)
	default:
		set, ok := setIf[v.Op]
		if !ok || v.Args[0].Type.Kind == ir.KindI1 || v.Args[0].Type.Bits() < 32 {
			panic(scalar(words(v.Op) + " of the same in all lanes"))
		}
		c.Op(compareOp(v), vasm.Use(x), vasm.Use(z.integerOf(v.Args[1])))
		c.Op(set, vasm.Def(to)) // to clear it first is no way: Go's assembler makes XORL of MOVL $0, which sets flags
		c.Op("MOVBLZX", vasm.Use(to), vasm.Def(to))
	}
}

// add adds y to x.
func (z *vectorizer) add(x vreg, y *ir.Value, to vreg) {
	if isShort(y) {
		z.code.Op("LEAQ", vasm.Mem(x, y.Imm), vasm.Def(to))
	} else {
		z.code.Op("LEAQ", vasm.Indexed(x, z.integerOf(y), 1), vasm.Def(to))
	}
}

// isShort reports whether v is a number that instructions have room for.
func isShort(v *ir.Value) bool {
	return v.Op == ir.OpConst && v.Type.IsInt() && v.Imm == int64(int32(v.Imm))
}

func (z *vectorizer) indexOp(v *ir.Value, x, to vreg) {
	c := z.code
	i := z.integerOf(v.Args[1])
	if v.Args[1].Op == ir.OpConst {
		c.Op("LEAQ", vasm.Mem(x, truncated(v.Args[1])*v.Imm), vasm.Def(to))
		return
	}
	t := c.Reg(vasm.Integer)
	if v.Args[1].Type.Kind == ir.KindI32 {
		c.Op("MOVLQSX", vasm.Use(i), vasm.Def(t))
		i = t
	}
	if n := v.Imm; n == 1 || n == 2 || n == 4 || n == 8 {
		c.Op("LEAQ", vasm.Indexed(x, i, n), vasm.Def(to))
		return
	}
	c.Op("IMUL3Q", vasm.Imm(v.Imm), vasm.Use(i), vasm.Def(t))
	c.Op("MOVQ", vasm.Use(x), vasm.Def(to).Soon())
	c.Op("ADDQ", vasm.Use(t), vasm.Mod(to))
}

func (z *vectorizer) resizeOp(v *ir.Value, x, to vreg) {
	from := v.Args[0].Type
	switch {
	case v.Op == ir.OpTrunc && v.Type.Kind == ir.KindI32, v.Op == ir.OpZExt && from.Kind == ir.KindI32:
		z.code.Op("MOVL", vasm.Use(x), vasm.Def(to))
	case v.Op == ir.OpSExt && from.Kind == ir.KindI32:
		z.code.Op("MOVLQSX", vasm.Use(x), vasm.Def(to))
	case v.Op == ir.OpZExt && from.Kind == ir.KindI1:
		z.code.Op("MOVQ", vasm.Use(x), vasm.Def(to))
	default:
		panic(scalar("an integer of another size"))
	}
}

// predicates of vector comparisons.
var predicates = map[ir.Op]int64{
	ir.OpEq: 0, ir.OpNe: 4, ir.OpSLt: 1, ir.OpSLe: 2, ir.OpULt: 1, ir.OpULe: 2,
	ir.OpFEq: 0, ir.OpFNe: 4, ir.OpFLt: 0x11, ir.OpFLe: 0x12,
}

func (z *vectorizer) compareLanes(v *ir.Value, to vreg) {
	t := v.Args[0].Type
	if t.Kind == ir.KindI1 {
		z.logicLanes(v, to)
		return
	}
	if t.Bits() < 32 {
		panic(scalar("an integer of 8 or 16 bits"))
	}
	names := [2]string{"VPCMPD", "VPCMPQ"}
	switch {
	case t.IsFloat():
		names = [2]string{"VCMPPS", "VCMPPD"}
	case v.Op == ir.OpULt || v.Op == ir.OpULe:
		names = [2]string{"VPCMPUD", "VPCMPUQ"}
	}
	x, y := z.vectorOf(v.Args[0]), z.vectorOf(v.Args[1])
	op, code := pick(names, isWide(t)), predicates[v.Op]
	if !isWide(t) {
		z.code.Op(op, vasm.Imm(code), vasm.Use(y[0]), vasm.Use(x[0]), vasm.Def(to))
		return
	}
	low, high := z.code.Reg(vasm.Mask), z.code.Reg(vasm.Mask)
	z.code.Op(op, vasm.Imm(code), vasm.Use(y[0]), vasm.Use(x[0]), vasm.Def(low))
	z.code.Op(op, vasm.Imm(code), vasm.Use(y[1]), vasm.Use(x[1]), vasm.Def(high))
	z.join(low, high, to)
}

var maskOps = map[ir.Op]string{
	ir.OpAnd: "KANDW", ir.OpMul: "KANDW", ir.OpOr: "KORW", ir.OpXor: "KXORW", ir.OpAdd: "KXORW", ir.OpSub: "KXORW", ir.OpNe: "KXORW", ir.OpEq: "KXNORW",
}

func (z *vectorizer) logicLanes(v *ir.Value, to vreg) {
	switch op, ok := maskOps[v.Op]; {
	case ok:
		z.code.Op(op, vasm.Use(z.maskOfValue(v.Args[1])), vasm.Use(z.maskOfValue(v.Args[0])), vasm.Def(to))
	case v.Op == ir.OpTrunc && v.Args[0].Type.Kind == ir.KindI32:
		z.code.Op("VPTESTMD", vasm.Use(z.constant(1, false)[0]), vasm.Use(z.vectorOf(v.Args[0])[0]), vasm.Def(to))
	case v.Op == ir.OpSelect:
		c, x, y := z.maskOfValue(v.Args[0]), z.maskOfValue(v.Args[1]), z.maskOfValue(v.Args[2])
		yes, no := z.code.Reg(vasm.Mask), z.code.Reg(vasm.Mask)
		z.code.Op("KANDW", vasm.Use(x), vasm.Use(c), vasm.Def(yes))
		z.code.Op("KANDNW", vasm.Use(y), vasm.Use(c), vasm.Def(no))
		z.code.Op("KORW", vasm.Use(yes), vasm.Use(no), vasm.Def(to))
	default:
		panic(scalar(words(v.Op) + " of truth values"))
	}
}

func (z *vectorizer) selectLanes(v *ir.Value, r *vector) {
	c := z.maskOfValue(v.Args[0])
	x, y := z.vectorOf(v.Args[1]), z.vectorOf(v.Args[2])
	for i, to := range z.regs(r, v) {
		op := "VPBLENDMD"
		if isWide(v.Type) {
			op = "VPBLENDMQ"
		}
		z.code.Op(op, vasm.Use(x[i]), vasm.Use(y[i]), vasm.Use(z.half(c, i)), vasm.Def(to))
	}
}

// binaryLanes are operations on two vectors, of 32 and of 64 bits.
var binaryLanes = map[ir.Op][2]string{
	ir.OpAdd: {"VPADDD", "VPADDQ"}, ir.OpSub: {"VPSUBD", "VPSUBQ"}, ir.OpMul: {"VPMULLD", "VPMULLQ"},
	ir.OpAnd: {"VPANDD", "VPANDQ"}, ir.OpOr: {"VPORD", "VPORQ"}, ir.OpXor: {"VPXORD", "VPXORQ"},
	ir.OpFAdd: {"VADDPS", "VADDPD"}, ir.OpFSub: {"VSUBPS", "VSUBPD"}, ir.OpFMul: {"VMULPS", "VMULPD"}, ir.OpFDiv: {"VDIVPS", "VDIVPD"},
}

var shiftLanes = map[ir.Op][2]string{
	ir.OpShl: {"VPSLLVD", "VPSLLVQ"}, ir.OpLShr: {"VPSRLVD", "VPSRLVQ"}, ir.OpAShr: {"VPSRAVD", "VPSRAVQ"},
}

// two writes an operation on two vectors.
func (z *vectorizer) two(op string, x, y [2]vreg, r *vector) {
	for i, to := range r.reg {
		if to != 0 {
			z.code.Op(op, vasm.Use(y[i]), vasm.Use(x[i]), vasm.Def(to))
		}
	}
}

func (z *vectorizer) intLanes(v *ir.Value, r *vector) {
	wide := isWide(v.Type)
	x := z.vectorOf(v.Args[0])
	switch v.Op {
	case ir.OpOffset:
		z.two("VPADDQ", x, z.constant(v.Imm, true), r)
		return
	case ir.OpIndex:
		i := z.wideIndex(v.Args[1])
		t := &vector{reg: [2]vreg{z.code.Reg(vasm.Vector), z.code.Reg(vasm.Vector)}}
		z.two("VPMULLQ", i, z.constant(v.Imm, true), t)
		z.two("VPADDQ", x, t.reg, r)
		return
	}
	if names, ok := binaryLanes[v.Op]; ok {
		z.two(pick(names, wide), x, z.vectorOf(v.Args[1]), r)
		return
	}
	names, ok := shiftLanes[v.Op]
	if !ok {
		panic(scalar(words(v.Op)))
	}
	n := v.Args[1]
	switch {
	case n.Op == ir.OpConst:
		z.two(pick(names, wide), x, z.constant(int64(uint32(n.Imm)), wide), r)
	case wide:
		z.two(names[1], x, z.extended("VPMOVZXDQ", z.vectorOf(n)[0]), r)
	default:
		z.two(names[0], x, z.vectorOf(n), r)
	}
}

// wideIndex returns an index with 64 bits.
func (z *vectorizer) wideIndex(v *ir.Value) [2]vreg {
	x := z.vectorOf(v)
	if v.Type.Kind == ir.KindI32 {
		return z.extended("VPMOVSXDQ", x[0])
	}
	return x
}

// extended applies a conversion from 32 to 64 bits.
func (z *vectorizer) extended(op string, x vreg) [2]vreg {
	r := [2]vreg{z.code.Reg(vasm.Vector), z.code.Reg(vasm.Vector)}
	z.extend(op, x, r)
	return r
}

func (z *vectorizer) extend(op string, x vreg, r [2]vreg) {
	high := z.code.Reg(vasm.Vector)
	z.code.Op("VEXTRACTI64X4", vasm.Imm(1), vasm.Use(x), vasm.Def(high).Half())
	z.code.Op(op, vasm.Use(x).Half(), vasm.Def(r[0]))
	z.code.Op(op, vasm.Use(high).Half(), vasm.Def(r[1]))
}

// shorten applies a conversion from 64 to 32 bits.
func (z *vectorizer) shorten(op string, x [2]vreg, to vreg) {
	low, high := z.code.Reg(vasm.Vector), z.code.Reg(vasm.Vector)
	z.code.Op(op, vasm.Use(x[0]), vasm.Def(low).Half())
	z.code.Op(op, vasm.Use(x[1]), vasm.Def(high).Half())
	z.code.Op("VINSERTI64X4", vasm.Imm(1), vasm.Use(high).Half(), vasm.Use(low), vasm.Def(to))
}

var roundings = map[ir.Op]int64{ir.OpFFloor: 9, ir.OpFCeil: 10, ir.OpFTrunc: 11, ir.OpFRint: 8}

func (z *vectorizer) floatLanes(v *ir.Value, r *vector) {
	wide := isWide(v.Type)
	x := z.vectorOf(v.Args[0])
	sign, rest := z.constant(math.MinInt32, false), z.constant(math.MaxInt32, false)
	if wide {
		sign, rest = z.constant(math.MinInt64, true), z.constant(math.MaxInt64, true)
	}
	and, xor := pick(binaryLanes[ir.OpAnd], wide), pick(binaryLanes[ir.OpXor], wide)
	if names, ok := binaryLanes[v.Op]; ok {
		z.two(pick(names, wide), x, z.vectorOf(v.Args[1]), r)
		return
	}
	if code, ok := roundings[v.Op]; ok {
		for i, to := range z.regs(r, v) {
			z.code.Op(pick([2]string{"VRNDSCALEPS", "VRNDSCALEPD"}, wide), vasm.Imm(code), vasm.Use(x[i]), vasm.Def(to))
		}
		return
	}
	switch v.Op {
	case ir.OpFNeg:
		z.two(xor, x, sign, r)
	case ir.OpFAbs:
		z.two(and, x, rest, r)
	case ir.OpFCopysign:
		y := z.vectorOf(v.Args[1])
		for i, to := range z.regs(r, v) {
			a, b := z.code.Reg(vasm.Vector), z.code.Reg(vasm.Vector)
			z.code.Op(and, vasm.Use(rest[i]), vasm.Use(x[i]), vasm.Def(a))
			z.code.Op(and, vasm.Use(sign[i]), vasm.Use(y[i]), vasm.Def(b))
			z.code.Op(pick(binaryLanes[ir.OpOr], wide), vasm.Use(a), vasm.Use(b), vasm.Def(to))
		}
	case ir.OpFSqrt:
		for i, to := range z.regs(r, v) {
			z.code.Op(pick([2]string{"VSQRTPS", "VSQRTPD"}, wide), vasm.Use(x[i]), vasm.Def(to))
		}
	case ir.OpFma:
		y, a := z.vectorOf(v.Args[1]), z.vectorOf(v.Args[2])
		for i, to := range z.regs(r, v) {
			t := z.code.Reg(vasm.Vector)
			z.code.Op("VMOVUPS", vasm.Use(a[i]), vasm.Def(t))
			z.code.Op(pick([2]string{"VFMADD231PS", "VFMADD231PD"}, wide), vasm.Use(y[i]), vasm.Use(x[i]), vasm.Mod(t))
			z.code.Op("VMOVUPS", vasm.Use(t), vasm.Def(to))
		}
	case ir.OpFMin, ir.OpFMax:
		z.extremeLanes(v, x, z.vectorOf(v.Args[1]), r)
	default:
		panic(scalar(words(v.Op)))
	}
}

// extremeLanes writes the smaller or larger of two floats, NaN where one is.
func (z *vectorizer) extremeLanes(v *ir.Value, x, y [2]vreg, r *vector) {
	wide := isWide(v.Type)
	code := map[ir.Op]int64{ir.OpFMin: 4, ir.OpFMax: 5}[v.Op]
	for i, to := range z.regs(r, v) {
		t, m := z.code.Reg(vasm.Vector), z.code.Reg(vasm.Mask)
		z.code.Op(pick([2]string{"VRANGEPS", "VRANGEPD"}, wide), vasm.Imm(code), vasm.Use(y[i]), vasm.Use(x[i]), vasm.Def(t))
		z.code.Op(pick([2]string{"VCMPPS", "VCMPPD"}, wide), vasm.Imm(3), vasm.Use(y[i]), vasm.Use(x[i]), vasm.Def(m))
		z.code.Op(pick([2]string{"VADDPS", "VADDPD"}, wide), vasm.Use(y[i]), vasm.Use(x[i]), vasm.Use(m), vasm.Mod(t))
		z.code.Op("VMOVUPS", vasm.Use(t), vasm.Def(to))
	}
}

// convertLanes converts between types of one size, from 32 to 64 bits, or from 64 to 32.
func (z *vectorizer) convertLanes(v *ir.Value, r *vector) {
	a := v.Args[0]
	from, to := a.Type, v.Type
	if from.Kind == ir.KindI1 {
		z.truthLanes(v, r)
		return
	}
	if from.Bits() < 32 || to.Bits() < 32 {
		panic(scalar("a small number"))
	}
	x := z.vectorOf(a)
	if v.Op == ir.OpBitcast {
		for i, t := range z.regs(r, v) {
			z.code.Op("VMOVUPS", vasm.Use(x[i]), vasm.Def(t))
		}
		return
	}
	if v.Op == ir.OpFToS {
		z.toInteger(v, x, r)
		return
	}
	op := conversionOp(v.Op, from, to)
	switch {
	case op == "":
		panic(scalar(words(v.Op)))
	case isWide(from) == isWide(to):
		for i, t := range z.regs(r, v) {
			z.code.Op(op, vasm.Use(x[i]), vasm.Def(t))
		}
	case isWide(to):
		z.extend(op, x[0], r.reg)
	default:
		z.shorten(op, x, r.reg[0])
	}
}

// conversionOp returns the instruction that converts, or "".
func conversionOp(op ir.Op, from, to *ir.Type) string {
	wide := [2]bool{isWide(from), isWide(to)}
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

// truthLanes writes a truth value as an integer.
func (z *vectorizer) truthLanes(v *ir.Value, r *vector) {
	if v.Op != ir.OpZExt && v.Op != ir.OpSExt || v.Type.Bits() < 32 {
		panic(scalar("a truth value becomes another type"))
	}
	one := int64(1)
	if v.Op == ir.OpSExt {
		one = -1
	}
	c, wide := z.maskOfValue(v.Args[0]), isWide(v.Type)
	for i, to := range z.regs(r, v) {
		z.code.Op(pick([2]string{"VMOVDQA32.Z", "VMOVDQA64.Z"}, wide), vasm.Use(z.constant(one, wide)[0]), vasm.Use(z.half(c, i)), vasm.Def(to))
	}
}

// toInteger converts floats to integers of the same size: out of range they are the nearest
// number, of NaN 0.
func (z *vectorizer) toInteger(v *ir.Value, x [2]vreg, r *vector) {
	from, to := v.Args[0].Type, v.Type
	wide := isWide(to)
	if isWide(from) != wide {
		panic(scalar("a float becomes an integer of another size"))
	}
	limit, most := z.constant(int64(math.Float32bits(1<<31)), false), z.constant(math.MaxInt32, false)
	if wide {
		limit, most = z.constant(int64(math.Float64bits(1<<63)), true), z.constant(math.MaxInt64, true)
	}
	compare := pick([2]string{"VCMPPS", "VCMPPD"}, wide)
	for i, out := range z.regs(r, v) {
		t, large, number := z.code.Reg(vasm.Vector), z.code.Reg(vasm.Mask), z.code.Reg(vasm.Mask)
		z.code.Op(pick([2]string{"VCVTTPS2DQ", "VCVTTPD2QQ"}, wide), vasm.Use(x[i]), vasm.Def(t))
		z.code.Op(compare, vasm.Imm(0x1d), vasm.Use(limit[i]), vasm.Use(x[i]), vasm.Def(large))
		z.code.Op(pick([2]string{"VMOVDQA32", "VMOVDQA64"}, wide), vasm.Use(most[i]), vasm.Use(large), vasm.Mod(t))
		z.code.Op(compare, vasm.Imm(7), vasm.Use(x[i]), vasm.Use(x[i]), vasm.Def(number))
		z.code.Op(pick([2]string{"VMOVDQA32.Z", "VMOVDQA64.Z"}, wide), vasm.Use(t), vasm.Use(number), vasm.Def(out))
	}
}
