package vector

import (
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/units"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// value writes what v does.
func (z *vectorizer) value(v *ir.Value) {
	switch {
	case z.Keep[v.ID] == layout.KeepBlock:
		panic(Because("an assignment to a variable of the block"))
	case v.Op == ir.OpPhi:
		if z.keeps(v) && !z.KeptAtEnd(v) {
			panic(Because("a saved phi"))
		}
		return
	case v.Op == ir.OpAlloca && z.Apart[v] && v.Imm != 1:
		panic(Because("a zero-initialized variable that other regions use"))
	case layout.Votes(v):
		panic(Because("a counting barrier"))
	case layout.Waits(v) && z.Warps:
		z.bring(v)
		return
	case z.Level[v.ID] < layout.PerThread || v.Op.Terminator() || v.Op == ir.OpAlloca || v.Op == ir.OpBarrier || layout.Trivial(v) && v.Op != ir.OpZExt && v.Op != ir.OpSExt && v.Op != ir.OpBitcast:
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
		panic(Because(words(v.Op)))
	case z.isDecided(v) || z.onlyAddresses(v):
		return
	case z.agreeing[v]:
		z.agreement(v)
		if z.Keep[v.ID] == layout.KeepNot && !slices.ContainsFunc(z.Users[v.ID], func(u *ir.Value) bool { return !z.tests(u, v) }) {
			return
		}
		z.pure(v)
	case z.Keep[v.ID] == layout.KeepNot && !slices.ContainsFunc(z.Users[v.ID], func(u *ir.Value) bool { return !z.tests(u, v) }):
		return
	default:
		z.pure(v)
	}
	if z.keeps(v) && !z.KeptAtEnd(v) {
		z.storeLanes(z.vectorOf(v), v.Type, vasm.Mem(z.keptAddress(v), 0), z.activeMask())
	}
}

// words describes what op is where there is a plain word for it.
func words(op ir.Op) string {
	switch {
	case op.Atomic():
		return "an atomic operation"
	case op == ir.OpLane:
		return "the thread's lane in its warp"
	}
	return op.String()
}

// tests reports whether u is a branch that compares the operands of v itself.
func (z *vectorizer) tests(u, v *ir.Value) bool {
	_, ok := jumpIf[v.Op]
	return ok && (u.Op == ir.OpIf || u.Op == ir.OpCheck) && z.shape(v).kind == uniform && v.Args[0].Type.Kind != ir.KindI1 && z.nodes[u.Block.ID] != nil
}

func (z *vectorizer) pure(v *ir.Value) {
	if len(v.Args) == 0 {
		panic(Because(words(v.Op)))
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
	case v.Op >= ir.OpTrunc && v.Op <= ir.OpFToBF16:
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
	if !z.sticky[v.ID] || z.activeMask() == 0 || r.kind != varying {
		return r
	}
	t := &vector{shape: r.shape, reg: [2]units.Vreg{z.Vector()}}
	if v.Type.Kind == ir.KindI1 {
		t.reg[0] = z.Unit.Mask()
	}
	if r.reg[1] != 0 {
		t.reg[1] = z.Vector()
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
		panic(Because("a boolean that is live after a loop"))
	}
	m, wide := z.activeMask(), units.IsWide(v.Type)
	for i, to := range z.regs(r) {
		z.Unit.Mix(z.half(m, i, wide), from.reg[i], to, wide)
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

// hasIntegerOp reports whether there is an integer instruction for v where its operands are the same in all lanes.
func hasIntegerOp(v *ir.Value) bool {
	bits := func(t *ir.Type) bool { return t.IsPtr() || t.Kind == ir.KindI32 || t.Kind == ir.KindI64 }
	_, shift := integerShifts[v.Op]
	_, sets := setIf[v.Op]
	switch _, ok := integerOps[v.Op]; {
	case ok:
		return v.Type.Kind == ir.KindI1 || bits(v.Type)
	case shift:
		return v.Args[1].Op == ir.OpConst && uint32(v.Args[1].Imm) < uint32(v.Type.Bits()) && bits(v.Type)
	case sets:
		return bits(v.Args[0].Type)
	}
	switch v.Op {
	case ir.OpOffset, ir.OpIndex, ir.OpTrunc, ir.OpZExt, ir.OpSExt, ir.OpBitcast:
		return true
	}
	return false
}

// integerOp computes a uniform value, or the first lane's of an affine one.
func (z *vectorizer) integerOp(v *ir.Value, to units.Vreg) {
	c, wide := z.Code, units.IsWide(v.Type)
	x := z.integerOf(v.Args[0])
	if names, ok := integerOps[v.Op]; ok {
		if v.Type.Kind != ir.KindI1 && v.Type.Bits() < 32 {
			panic(Because("an integer of 8 or 16 bits"))
		}
		if wide && v.Op == ir.OpAdd {
			z.add(x, v.Args[1], to)
			return
		}
		y := z.integerOf(v.Args[1])
		c.Op("MOVQ", vasm.Use(x), vasm.Def(to).Soon())
		c.Op(units.Pick(names, wide), vasm.Use(y), vasm.Mod(to))
		return
	}
	if names, ok := integerShifts[v.Op]; ok {
		n := v.Args[1]
		if n.Op != ir.OpConst || uint32(n.Imm) >= uint32(v.Type.Bits()) || v.Type.Bits() < 32 {
			panic(Because("a shift by a variable"))
		}
		c.Op("MOVQ", vasm.Use(x), vasm.Def(to))
		c.Op(units.Pick(names, wide), vasm.Imm(n.Imm), vasm.Mod(to))
		return
	}
	switch v.Op {
	case ir.OpOffset:
		z.addNumber(x, v.Imm, to)
	case ir.OpBitcast:
		c.Op("MOVQ", vasm.Use(x), vasm.Def(to))
	case ir.OpIndex:
		z.indexOp(v, x, to)
	case ir.OpSExt, ir.OpZExt, ir.OpTrunc:
		z.resizeOp(v, x, to)
	default:
		set, ok := setIf[v.Op]
		if !ok || v.Args[0].Type.Kind == ir.KindI1 || v.Args[0].Type.Bits() < 32 {
			panic(Because(words(v.Op) + " of operands that are equal in all lanes"))
		}
		c.Op(compareOp(v), vasm.Use(x), vasm.Use(z.integerOf(v.Args[1])))
		c.Op(set, vasm.Def(to)) // to clear it first is no way: Go's assembler makes XORL of MOVL $0, which sets flags
		c.Op("MOVBLZX", vasm.Use(to), vasm.Def(to))
	}
}

// add adds y to x.
func (z *vectorizer) add(x units.Vreg, y *ir.Value, to units.Vreg) {
	if isShort(y) {
		z.Code.Op("LEAQ", vasm.Mem(x, y.Imm), vasm.Def(to))
	} else {
		z.Code.Op("LEAQ", vasm.Indexed(x, z.integerOf(y), 1), vasm.Def(to))
	}
}

// addNumber adds n to x.
func (z *vectorizer) addNumber(x units.Vreg, n int64, to units.Vreg) {
	if n == int64(int32(n)) {
		z.Code.Op("LEAQ", vasm.Mem(x, n), vasm.Def(to))
		return
	}
	t := z.Code.Reg(vasm.Integer)
	z.Code.Op("MOVQ", vasm.Imm(n), vasm.Def(t))
	z.Code.Op("LEAQ", vasm.Indexed(x, t, 1), vasm.Def(to))
}

// isShort reports whether v is a number that instructions have room for.
func isShort(v *ir.Value) bool {
	return v.Op == ir.OpConst && v.Type.IsInt() && v.Imm == int64(int32(v.Imm))
}

func (z *vectorizer) indexOp(v *ir.Value, x, to units.Vreg) {
	c := z.Code
	i := z.integerOf(v.Args[1])
	if v.Args[1].Op == ir.OpConst {
		z.addNumber(x, layout.Truncated(v.Args[1])*v.Imm, to)
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

func (z *vectorizer) resizeOp(v *ir.Value, x, to units.Vreg) {
	from := v.Args[0].Type
	switch {
	case v.Op == ir.OpTrunc && v.Type.Kind == ir.KindI32, v.Op == ir.OpZExt && from.Kind == ir.KindI32:
		z.Code.Op("MOVL", vasm.Use(x), vasm.Def(to))
	case v.Op == ir.OpSExt && from.Kind == ir.KindI32:
		z.Code.Op("MOVLQSX", vasm.Use(x), vasm.Def(to))
	case v.Op == ir.OpZExt && from.Kind == ir.KindI1, v.Op == ir.OpTrunc && (v.Type.Kind == ir.KindI8 || v.Type.Kind == ir.KindI16):
		z.Code.Op("MOVQ", vasm.Use(x), vasm.Def(to))
	case from.Kind == ir.KindI8 || from.Kind == ir.KindI16:
		z.Code.Op(moves[units.Element{Size: from.Size(), Signed: v.Op == ir.OpSExt}], vasm.Use(x), vasm.Def(to))
	default:
		panic(Because("an integer of an unsupported size"))
	}
}

func (z *vectorizer) compareLanes(v *ir.Value, to units.Vreg) {
	t := v.Args[0].Type
	if t.Kind == ir.KindI1 {
		z.logicLanes(v, to)
		return
	}
	signed := v.Op == ir.OpSLt || v.Op == ir.OpSLe
	x, y := z.fullLanes(v.Args[0], signed), z.fullLanes(v.Args[1], signed)
	if !units.IsWide(t) {
		z.Unit.Compare(v.Op, units.Pair{X: x[0], Y: y[0], To: to, Wide: false})
		return
	}
	low, high := z.Unit.Mask(), z.Unit.Mask()
	z.Unit.Compare(v.Op, units.Pair{X: x[0], Y: y[0], To: low, Wide: true})
	z.Unit.Compare(v.Op, units.Pair{X: x[1], Y: y[1], To: high, Wide: true})
	z.Unit.Join(low, high, to)
}

var maskOps = map[ir.Op]units.MaskOp{
	ir.OpAnd: units.MaskAnd, ir.OpMul: units.MaskAnd, ir.OpOr: units.MaskOr, ir.OpXor: units.MaskXor, ir.OpAdd: units.MaskXor, ir.OpSub: units.MaskXor, ir.OpNe: units.MaskXor, ir.OpEq: units.MaskSame,
}

func (z *vectorizer) logicLanes(v *ir.Value, to units.Vreg) {
	switch op, ok := maskOps[v.Op]; {
	case ok:
		z.Unit.Logic(op, z.maskOfValue(v.Args[1]), z.maskOfValue(v.Args[0]), to)
	case v.Op == ir.OpTrunc && !units.IsWide(v.Args[0].Type):
		z.Unit.Odd(z.vectorOf(v.Args[0])[0], to)
	case v.Op == ir.OpSelect:
		c, x, y := z.maskOfValue(v.Args[0]), z.maskOfValue(v.Args[1]), z.maskOfValue(v.Args[2])
		yes, no := z.Unit.Mask(), z.Unit.Mask()
		z.Unit.Logic(units.MaskAnd, x, c, yes)
		z.Unit.Logic(units.MaskWithout, y, c, no)
		z.Unit.Logic(units.MaskOr, yes, no, to)
	default:
		panic(Because(words(v.Op) + " of booleans"))
	}
}

func (z *vectorizer) selectLanes(v *ir.Value, r *vector) {
	c, wide := z.maskOfValue(v.Args[0]), units.IsWide(v.Type)
	x, y := z.vectorOf(v.Args[1]), z.vectorOf(v.Args[2])
	for i, to := range z.regs(r) {
		z.Unit.Blend(z.half(c, i, wide), units.Pair{X: x[i], Y: y[i], To: to, Wide: wide})
	}
}

// both writes an operation on two vectors.
func (z *vectorizer) both(op ir.Op, x, y [2]units.Vreg, r *vector) {
	for i, to := range r.reg {
		if to != 0 {
			z.Unit.Binary(op, units.Pair{X: x[i], Y: y[i], To: to, Wide: r.reg[1] != 0})
		}
	}
}

func (z *vectorizer) intLanes(v *ir.Value, r *vector) {
	wide := units.IsWide(v.Type)
	x := z.vectorOf(v.Args[0])
	switch v.Op {
	case ir.OpOffset:
		z.both(ir.OpAdd, x, twice(z.Constant(v.Imm, true)), r)
		return
	case ir.OpIndex:
		i := z.wideIndex(v.Args[1])
		for k, to := range r.reg {
			t := z.Vector()
			z.Unit.Times(i[k], v.Imm, t)
			z.Unit.Binary(ir.OpAdd, units.Pair{X: x[k], Y: t, To: to, Wide: true})
		}
		return
	}
	if isDivision(v.Op) {
		z.divideLanes(v, r)
		return
	}
	if _, ok := units.BinaryLanes[v.Op]; !ok {
		panic(Because(words(v.Op)))
	}
	n := v.Args[1]
	if v.Op == ir.OpLShr || v.Op == ir.OpAShr {
		x = z.fullLanes(v.Args[0], v.Op == ir.OpAShr)
	}
	switch _, shift := integerShifts[v.Op]; {
	case shift && n.Op == ir.OpConst:
		z.both(v.Op, x, twice(z.Constant(int64(uint32(n.Imm)), wide)), r)
	case shift && wide:
		z.both(v.Op, x, z.Extended("VPMOVZXDQ", z.vectorOf(n)[0]), r)
	default:
		z.both(v.Op, x, z.vectorOf(n), r)
	}
}

// twice returns x as both registers of a wide value.
func twice(x units.Vreg) [2]units.Vreg { return [2]units.Vreg{x, x} }

// wideIndex returns an index with 64 bits.
func (z *vectorizer) wideIndex(v *ir.Value) [2]units.Vreg {
	x := z.vectorOf(v)
	if v.Type.Kind == ir.KindI32 {
		return z.Extended("VPMOVSXDQ", x[0])
	}
	return x
}

func (z *vectorizer) floatLanes(v *ir.Value, r *vector) {
	wide := units.IsWide(v.Type)
	x := z.vectorOf(v.Args[0])
	if _, ok := units.BinaryLanes[v.Op]; ok {
		z.both(v.Op, x, z.vectorOf(v.Args[1]), r)
		return
	}
	if _, ok := units.Roundings[v.Op]; ok {
		for i, to := range z.regs(r) {
			z.Unit.Round(v.Op, x[i], to, wide)
		}
		return
	}
	switch v.Op {
	case ir.OpFNeg, ir.OpFAbs, ir.OpFCopysign:
		z.signLanes(v, x, r)
	case ir.OpFSqrt:
		for i, to := range z.regs(r) {
			z.Code.Op(units.Pick([2]string{"VSQRTPS", "VSQRTPD"}, wide), vasm.Use(x[i]), vasm.Def(to))
		}
	case ir.OpFma:
		y, a := z.vectorOf(v.Args[1]), z.vectorOf(v.Args[2])
		for i, to := range z.regs(r) {
			t := z.Vector()
			z.Code.Op("VMOVUPS", vasm.Use(a[i]), vasm.Def(t))
			z.Code.Op(units.Pick([2]string{"VFMADD231PS", "VFMADD231PD"}, wide), vasm.Use(y[i]), vasm.Use(x[i]), vasm.Mod(t))
			z.Code.Op("VMOVUPS", vasm.Use(t), vasm.Def(to))
		}
	case ir.OpFMin, ir.OpFMax:
		y := z.vectorOf(v.Args[1])
		for i, to := range z.regs(r) {
			z.Unit.Extreme(v.Op, units.Pair{X: x[i], Y: y[i], To: to, Wide: wide})
		}
	default:
		panic(Because(words(v.Op)))
	}
}

// signLanes writes operations on the signs of floats.
func (z *vectorizer) signLanes(v *ir.Value, x [2]units.Vreg, r *vector) {
	wide := units.IsWide(v.Type)
	sign, rest := z.Constant(math.MinInt32, false), z.Constant(math.MaxInt32, false)
	if wide {
		sign, rest = z.Constant(math.MinInt64, true), z.Constant(math.MaxInt64, true)
	}
	switch v.Op {
	case ir.OpFNeg:
		z.both(ir.OpXor, x, twice(sign), r)
	case ir.OpFAbs:
		z.both(ir.OpAnd, x, twice(rest), r)
	default:
		y := z.vectorOf(v.Args[1])
		for i, to := range z.regs(r) {
			a, b := z.Vector(), z.Vector()
			z.Unit.Binary(ir.OpAnd, units.Pair{X: x[i], Y: rest, To: a, Wide: wide})
			z.Unit.Binary(ir.OpAnd, units.Pair{X: y[i], Y: sign, To: b, Wide: wide})
			z.Unit.Binary(ir.OpOr, units.Pair{X: b, Y: a, To: to, Wide: wide})
		}
	}
}

// convertLanes converts between types of one size, from 32 to 64 bits, or from 64 to 32.
func (z *vectorizer) convertLanes(v *ir.Value, r *vector) {
	from, to := v.Args[0].Type, v.Type
	if from.Kind == ir.KindI1 {
		z.truthLanes(v, r)
		return
	}
	if from.Bits() < 32 || to.Bits() < 32 {
		z.convertSmall(v, r)
		return
	}
	x := z.vectorOf(v.Args[0])
	switch {
	case v.Op == ir.OpBitcast:
		for i, t := range z.regs(r) {
			z.Code.Op("VMOVUPS", vasm.Use(x[i]), vasm.Def(t))
		}
	case v.Op == ir.OpFToS && !units.IsWide(to):
		z.floatToInteger(x, units.IsWide(from), r.reg[0])
	case v.Op == ir.OpFToS || v.Op == ir.OpFToU && !units.IsWide(to): // one without a sign is the lower half of one with 64 bits
		z.floatToLong(x, units.IsWide(from), r)
	case v.Op == ir.OpFToU:
		panic(Because("a conversion of a float to an unsigned integer of 64 bits"))
	case !z.Unit.Convert(v, x, r.reg):
		panic(Because(words(v.Op)))
	}
}

// floatToLong truncates floats to integers of 64 bits, of which r may take the lower halves.
func (z *vectorizer) floatToLong(x [2]units.Vreg, wide bool, r *vector) {
	if !wide {
		x = z.Extended("VCVTPS2PD", x[0])
	}
	long := r.reg
	if long[1] == 0 {
		long = [2]units.Vreg{z.Vector(), z.Vector()}
	}
	for i := range long {
		z.Unit.Integer(x[i], long[i], true)
	}
	if long != r.reg {
		z.Unit.Truncate(long[0], long[1], r.reg[0])
	}
}

// truthLanes writes a truth value as an integer.
func (z *vectorizer) truthLanes(v *ir.Value, r *vector) {
	if v.Op != ir.OpZExt && v.Op != ir.OpSExt {
		panic(Because("a conversion of a boolean"))
	}
	one := int64(1)
	if v.Op == ir.OpSExt {
		one = -1
	}
	c, wide := z.maskOfValue(v.Args[0]), units.IsWide(v.Type)
	for i, to := range z.regs(r) {
		z.Unit.Only(z.half(c, i, wide), z.Constant(one, wide), to, wide)
	}
}
