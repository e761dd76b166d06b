package ptxspirv

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

func isFloat(typ ptx.Type) bool { return typ == ptx.F32 || typ == ptx.F64 }

// arithmetic translates add and sub.
func (t *translator) arithmetic(integer, float spirv.Op) {
	typ := t.typ(0)
	switch {
	case typ.Size() == 2 && typ.Class() == ptx.Float || t.has("sat") || t.has("cc"):
		t.fail("%s", t.in)
	case isFloat(typ):
		t.rounded()
		t.result(typ, t.op(float, typ, t.arg(1, typ), t.arg(2, typ)))
	default:
		t.result(typ, t.op(integer, typ, t.arg(1, typ), t.arg(2, typ)))
	}
}

// rounded refuses rounding modes other than to nearest.
func (t *translator) rounded() {
	if t.has("rz") || t.has("rm") || t.has("rp") || t.has("sat") {
		t.fail("%s", t.in)
	}
}

func (t *translator) multiply() {
	typ := t.typ(0)
	if isFloat(typ) {
		t.arithmetic(0, spirv.OpFMul)
		return
	}
	v, to := t.product(typ)
	t.result(to, v)
}

// product returns the integer product that .lo, .hi or .wide selects, and its type.
func (t *translator) product(typ ptx.Type) (spirv.ID, ptx.Type) {
	a, b := t.arg(1, typ), t.arg(2, typ)
	switch {
	case t.has("wide"):
		to, extend := ptx.U64, spirv.OpUConvert
		if typ.Class() == ptx.Signed {
			to, extend = ptx.S64, spirv.OpSConvert
		}
		if typ.Size() == 2 {
			return t.op(spirv.OpIMul, ptx.U32, t.trim(typ, a), t.trim(typ, b)), ptx.U32
		}
		if size, ok := t.in.Args[2].As(typ); ok && size&(size-1) != 0 {
			// NVIDIA's compiler for Vulkan (driver 580) computes a wrong address for table[n&1][n%3], where 3 is this size, if it sees the mask.
			a = t.opaque(typ, a)
		}
		return t.op(spirv.OpIMul, to, t.op(extend, to, a), t.op(extend, to, b)), to
	case t.has("hi") && typ.Size() == 4:
		to, extend := ptx.U64, spirv.OpUConvert
		if typ.Class() == ptx.Signed {
			extend = spirv.OpSConvert
		}
		p := t.op(spirv.OpIMul, to, t.op(extend, to, a), t.op(extend, to, b))
		return t.op(spirv.OpUConvert, ptx.U32, t.op(spirv.OpShiftRightLogical, to, p, t.wide(32))), typ
	case t.has("hi") && typ.Size() == 8:
		return t.high(a, b, typ.Class() == ptx.Signed), typ
	}
	return t.op(spirv.OpIMul, typ, a, b), typ
}

// high returns the upper 64 bits of a product of 128 bits, from products of 32 bits.
func (t *translator) high(a, b spirv.ID, signed bool) spirv.ID {
	add := func(x, y spirv.ID) spirv.ID { return t.op(spirv.OpIAdd, ptx.U64, x, y) }
	times := func(x, y spirv.ID) spirv.ID { return t.op(spirv.OpIMul, ptx.U64, x, y) }
	low := func(x spirv.ID) spirv.ID { return t.op(spirv.OpBitwiseAnd, ptx.U64, x, t.wide(1<<32-1)) }
	up := func(x spirv.ID) spirv.ID { return t.op(spirv.OpShiftRightLogical, ptx.U64, x, t.wide(32)) }
	middle := add(times(up(a), low(b)), up(times(low(a), low(b))))
	cross := add(times(low(a), up(b)), low(middle))
	v := add(add(times(up(a), up(b)), up(middle)), up(cross))
	if signed { // less b for a negative a, and less a for a negative b
		for _, p := range [][2]spirv.ID{{a, b}, {b, a}} {
			sign := t.op(spirv.OpShiftRightArithmetic, ptx.S64, p[0], t.word(63))
			v = t.op(spirv.OpISub, ptx.U64, v, t.op(spirv.OpBitwiseAnd, ptx.U64, sign, p[1]))
		}
	}
	return v
}

func (t *translator) multiplyAdd() {
	typ := t.typ(0)
	if isFloat(typ) {
		t.rounded()
		t.result(typ, t.fused(typ, t.arg(1, typ), t.arg(2, typ), t.arg(3, typ)))
		return
	}
	p, to := t.product(typ)
	t.result(to, t.op(spirv.OpIAdd, to, p, t.arg(3, to)))
}

// quotient translates div and rem of integers, and div of floats.
func (t *translator) quotient(rest bool) {
	typ := t.typ(0)
	if isFloat(typ) {
		t.divide(typ)
		return
	}
	a, b := t.trim(typ, t.arg(1, typ)), t.trim(typ, t.arg(2, typ))
	if typ.Class() != ptx.Signed {
		op := spirv.OpUDiv
		if rest {
			op = spirv.OpUMod
		}
		t.result(typ, t.op(op, typ, a, b))
		return
	}
	// The smallest number divided by -1 overflows, which SPIR-V leaves undefined.
	odd := t.test(spirv.OpIEqual, b, t.number(held(typ), ^uint64(0)))
	b = t.choose(typ, odd, t.number(held(typ), 1), b)
	v, special := t.op(spirv.OpSDiv, typ, a, b), t.op(spirv.OpSNegate, typ, a)
	if rest { // OpSRem of negative numbers is undefined in Vulkan
		v, special = t.op(spirv.OpISub, typ, a, t.op(spirv.OpIMul, typ, v, b)), t.number(held(typ), 0)
	}
	t.result(typ, t.choose(typ, odd, special, v))
}

// extremum translates min and max.
func (t *translator) extremum(unsigned, signed uint32, less spirv.Op) {
	typ := t.typ(0)
	if isFloat(typ) {
		t.floatExtremum(typ, less)
		return
	}
	op := unsigned
	if typ.Class() == ptx.Signed {
		op = signed
	}
	t.result(typ, t.Extended(op, t.unsigned(held(typ)), t.trim(typ, t.arg(1, typ)), t.trim(typ, t.arg(2, typ))))
}

func (t *translator) negate() {
	typ := t.typ(0)
	if isFloat(typ) {
		t.result(untyped(typ), t.op(spirv.OpBitwiseXor, untyped(typ), t.bits(t.in.Args[1], typ), t.signBit(typ)))
		return
	}
	t.result(typ, t.op(spirv.OpSNegate, typ, t.arg(1, typ)))
}

func (t *translator) absolute() {
	typ := t.typ(0)
	if isFloat(typ) {
		keep := t.op(spirv.OpNot, untyped(typ), t.signBit(typ))
		t.result(untyped(typ), t.op(spirv.OpBitwiseAnd, untyped(typ), t.bits(t.in.Args[1], typ), keep))
		return
	}
	a := t.trim(typ, t.arg(1, typ))
	// A compiler of Mesa recognizes a selection of a or -a, and computes the absolute values of 64-bit integers wrongly.
	sign := t.op(spirv.OpShiftRightArithmetic, typ, a, t.word(uint32(8*held(typ)-1)))
	t.result(typ, t.op(spirv.OpISub, typ, t.op(spirv.OpBitwiseXor, typ, a, sign), sign))
}

// untyped returns the type of a float's bits.
func untyped(typ ptx.Type) ptx.Type {
	if typ.Size() == 8 {
		return ptx.B64
	}
	return ptx.B32
}

func (t *translator) signBit(typ ptx.Type) spirv.ID {
	return t.number(typ.Size(), 1<<(8*typ.Size()-1))
}

// bitwise translates and, or and xor.
func (t *translator) bitwise(op, predicate spirv.Op) {
	typ := t.typ(0)
	switch {
	case typ == ptx.Pred:
		op = predicate
	case op == spirv.OpBitwiseOr && t.joinsBytes():
		op = spirv.OpIAdd
	}
	t.result(typ, t.op(op, typ, t.arg(1, typ), t.arg(2, typ)))
}

func (t *translator) not() {
	typ := t.typ(0)
	op := spirv.OpNot
	if typ == ptx.Pred {
		op = spirv.OpLogicalNot
	}
	t.result(typ, t.op(op, typ, t.arg(1, typ)))
}

// shift translates shl and shr, which shift out all bits for counts from the width on.
func (t *translator) shift(left bool) {
	typ := t.typ(0)
	a, n := t.trim(typ, t.arg(1, typ)), t.arg(2, ptx.U32)
	width := t.word(uint32(8 * typ.Size()))
	small := t.test(spirv.OpULessThan, n, width)
	op := spirv.OpShiftLeftLogical
	switch {
	case left:
	case typ.Class() == ptx.Signed:
		last := t.word(uint32(8*typ.Size() - 1))
		t.result(typ, t.op(spirv.OpShiftRightArithmetic, typ, a, t.choose(ptx.U32, small, n, last)))
		return
	default:
		op = spirv.OpShiftRightLogical
	}
	v := t.op(op, typ, a, t.choose(ptx.U32, small, n, t.word(0)))
	t.result(typ, t.choose(typ, small, v, t.number(held(typ), 0)))
}

// halves returns the lower and the upper word of a u64.
func (t *translator) halves(v spirv.ID) (low, high spirv.ID) {
	low = t.op(spirv.OpUConvert, ptx.U32, v)
	high = t.op(spirv.OpUConvert, ptx.U32, t.op(spirv.OpShiftRightLogical, ptx.U64, v, t.word(32)))
	return low, high
}

// join returns the u64 of two words.
func (t *translator) join(low, high spirv.ID) spirv.ID {
	up := t.op(spirv.OpShiftLeftLogical, ptx.U64, t.op(spirv.OpUConvert, ptx.U64, high), t.word(32))
	return t.op(spirv.OpBitwiseOr, ptx.U64, up, t.op(spirv.OpUConvert, ptx.U64, low))
}

func (t *translator) countBits() {
	if t.typ(0).Size() == 4 {
		t.result(ptx.U32, t.op(spirv.OpBitCount, ptx.U32, t.arg(1, ptx.U32)))
		return
	}
	low, high := t.halves(t.arg(1, ptx.U64))
	t.result(ptx.U32, t.op(spirv.OpIAdd, ptx.U32, t.op(spirv.OpBitCount, ptx.U32, low), t.op(spirv.OpBitCount, ptx.U32, high)))
}

func (t *translator) leadingZeros() {
	count := func(v spirv.ID) spirv.ID { // FindUMsb of 0 is -1
		return t.op(spirv.OpISub, ptx.U32, t.word(31), t.Extended(spirv.GLSLFindUMsb, t.u32(), v))
	}
	if t.typ(0).Size() == 4 {
		t.result(ptx.U32, count(t.arg(1, ptx.U32)))
		return
	}
	low, high := t.halves(t.arg(1, ptx.U64))
	below := t.op(spirv.OpIAdd, ptx.U32, count(low), t.word(32))
	t.result(ptx.U32, t.choose(ptx.U32, t.test(spirv.OpIEqual, high, t.word(0)), below, count(high)))
}

func (t *translator) reverseBits() {
	if t.typ(0).Size() == 4 {
		t.result(ptx.U32, t.op(spirv.OpBitReverse, ptx.U32, t.arg(1, ptx.U32)))
		return
	}
	low, high := t.halves(t.arg(1, ptx.U64))
	t.result(ptx.U64, t.join(t.op(spirv.OpBitReverse, ptx.U32, high), t.op(spirv.OpBitReverse, ptx.U32, low)))
}

// extract translates bfe of unsigned words.
func (t *translator) extract() {
	if t.typ(0) != ptx.U32 {
		t.fail("%s", t.in)
		return
	}
	at, n := t.field(2)
	t.result(ptx.U32, t.op(spirv.OpBitFieldUExtract, ptx.U32, t.arg(1, ptx.U32), at, n))
}

func (t *translator) insert() {
	if t.typ(0) != ptx.B32 {
		t.fail("%s", t.in)
		return
	}
	at, n := t.field(3)
	t.result(ptx.U32, t.op(spirv.OpBitFieldInsert, ptx.U32, t.arg(2, ptx.U32), t.arg(1, ptx.U32), at, n))
}

// field returns the first bit and the number of bits, operands i and i+1, of what lies of a field in a number of 32 bits.
func (t *translator) field(i int) (at, n spirv.ID) {
	at = t.op(spirv.OpBitwiseAnd, ptx.U32, t.arg(i, ptx.U32), t.word(255))
	n = t.op(spirv.OpBitwiseAnd, ptx.U32, t.arg(i+1, ptx.U32), t.word(255))
	at = t.Extended(spirv.GLSLUMin, t.u32(), at, t.word(32))
	n = t.Extended(spirv.GLSLUMin, t.u32(), n, t.op(spirv.OpISub, ptx.U32, t.word(32), at))
	return at, n
}

var relations = map[string][2]spirv.Op{ // of unsigned and of signed integers
	"eq": {spirv.OpIEqual, spirv.OpIEqual}, "ne": {spirv.OpINotEqual, spirv.OpINotEqual},
	"lt": {spirv.OpULessThan, spirv.OpSLessThan}, "le": {spirv.OpULessThanEqual, spirv.OpSLessThanEqual},
	"gt": {spirv.OpUGreaterThan, spirv.OpSGreaterThan}, "ge": {spirv.OpUGreaterThanEqual, spirv.OpSGreaterThanEqual},
	"lo": {spirv.OpULessThan, spirv.OpULessThan}, "ls": {spirv.OpULessThanEqual, spirv.OpULessThanEqual},
	"hi": {spirv.OpUGreaterThan, spirv.OpUGreaterThan}, "hs": {spirv.OpUGreaterThanEqual, spirv.OpUGreaterThanEqual},
}

var floatRelations = map[string]spirv.Op{
	"eq": spirv.OpFOrdEqual, "ne": spirv.OpFOrdNotEqual, "lt": spirv.OpFOrdLessThan,
	"le": spirv.OpFOrdLessThanEqual, "gt": spirv.OpFOrdGreaterThan, "ge": spirv.OpFOrdGreaterThanEqual,
	"equ": spirv.OpFUnordEqual, "neu": spirv.OpFUnordNotEqual, "ltu": spirv.OpFUnordLessThan,
	"leu": spirv.OpFUnordLessThanEqual, "gtu": spirv.OpFUnordGreaterThan, "geu": spirv.OpFUnordGreaterThanEqual,
}

func (t *translator) compare() {
	typ, name := t.typ(0), t.mods[0]
	if len(t.in.Args) != 3 {
		t.fail("%s with a predicate", t.in)
		return
	}
	a, b := t.arg(1, typ), t.arg(2, typ)
	if isFloat(typ) {
		t.result(ptx.Pred, t.floatTest(name, a, b))
		return
	}
	pair, ok := relations[name]
	if !ok {
		t.fail("%s", t.in)
	}
	op := pair[0]
	if typ.Class() == ptx.Signed {
		op = pair[1]
	}
	t.result(ptx.Pred, t.test(op, t.trim(typ, a), t.trim(typ, b)))
}

func (t *translator) floatTest(name string, a, b spirv.ID) spirv.ID {
	if op, ok := floatRelations[name]; ok {
		return t.test(op, a, b)
	}
	unordered := t.op(spirv.OpLogicalOr, ptx.Pred, t.isNaN(a), t.isNaN(b))
	switch name {
	case "nan":
	case "num":
		return t.op(spirv.OpLogicalNot, ptx.Pred, unordered)
	default:
		t.fail("%s", t.in)
	}
	return unordered
}

func (t *translator) isNaN(v spirv.ID) spirv.ID { return t.test(spirv.OpFUnordNotEqual, v, v) }

func (t *translator) selection() {
	typ := t.typ(0)
	a, b := t.bits(t.in.Args[1], typ), t.bits(t.in.Args[2], typ)
	if t.saturates() {
		a = t.opaque(typ, a)
	}
	t.result(plain(typ), t.choose(plain(typ), t.arg(3, ptx.Pred), a, b))
}

// plain returns the type of the bits of a type.
func plain(typ ptx.Type) ptx.Type {
	if isFloat(typ) {
		return untyped(typ)
	}
	return typ
}

func (t *translator) move() {
	typ := t.typ(0)
	if typ == ptx.Pred {
		t.result(typ, t.arg(1, typ))
		return
	}
	to, from := t.in.Args[0], t.in.Args[1]
	switch {
	case to.Kind == ptx.VectorOperand:
		t.unpack(to, t.bits(from, typ), typ)
	case from.Kind == ptx.VectorOperand:
		t.result(plain(typ), t.intoRegister(to, t.pack(from, typ)))
	case isFloat(typ): // a register for floats, or an immediate
		t.result(plain(typ), t.bits(from, typ))
	default:
		t.result(typ, t.intoRegister(to, t.bits(from, typ)))
	}
}

// unpack assigns the parts of a value.
func (t *translator) unpack(to ptx.Operand, v spirv.ID, typ ptx.Type) {
	size := typ.Size() / len(to.Elems)
	part := []ptx.Type{1: ptx.U8, 2: ptx.U16, 4: ptx.U32}[size]
	for i, o := range to.Elems {
		x := t.op(spirv.OpShiftRightLogical, plain(typ), v, t.word(uint32(8*size*i)))
		if typ.Size() == 8 {
			x = t.op(spirv.OpUConvert, ptx.U32, x)
		}
		t.assign(o, part, t.intoRegister(o, t.trim(part, x)))
	}
}

// pack returns the value with the given parts.
func (t *translator) pack(from ptx.Operand, typ ptx.Type) spirv.ID {
	size := typ.Size() / len(from.Elems)
	part := []ptx.Type{1: ptx.U8, 2: ptx.U16, 4: ptx.U32}[size]
	v := t.number(held(typ), 0)
	for i, o := range from.Elems {
		x := t.trim(part, t.bits(o, part))
		if typ.Size() == 8 {
			x = t.op(spirv.OpUConvert, ptx.U64, x)
		}
		x = t.op(spirv.OpShiftLeftLogical, plain(typ), x, t.word(uint32(8*size*i)))
		v = t.op(spirv.OpBitwiseOr, plain(typ), v, x)
	}
	return v
}
