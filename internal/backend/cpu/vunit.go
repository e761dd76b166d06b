package cpu

import (
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// unit writes what a processor's vector units do. Registers have lanes of 32 bits, or half as many of 64 where
// wide is set: the threads of a vector are as many as there are lanes of 32 bits.
//
// A mask has a bit, or a lane, for each thread. For wide vectors it is taken in two halves: see half.
type unit interface {
	// lanes returns how many lanes of 32 bits a register has.
	lanes() int
	// name is what the names of functions end in.
	name() string

	maskUnit
	memoryUnit
	numberUnit
}

// pair is two vectors and where the result of an operation on them goes.
type pair struct {
	x, y, to vreg
	wide     bool
}

// maskUnit writes operations on masks.
type maskUnit interface {
	// mask returns a new register for a mask.
	mask() vreg
	// none sets m to no lanes.
	none(m vreg)
	// all sets m to all lanes.
	all(m vreg)
	// copyMask copies a mask.
	copyMask(from, to vreg)
	// logic combines masks.
	logic(op maskOp, x, y, to vreg)
	// test sets the flags: equal where m has no lanes.
	test(m vreg)
	// unlessAll jumps where m has not all lanes.
	unlessAll(m vreg, label string)
	// not inverts a mask.
	not(x, to vreg)
	// truth sets m to all lanes or none by an integer that is -1 or 0.
	truth(n, m vreg)
	// odd sets m to the lanes in which the integers of x are odd.
	odd(x, m vreg)
	// bits returns an integer with a bit for each lane of m.
	bits(m vreg) vreg
	// half returns the lanes of m that half i of a wide vector has; 0 is all.
	half(m vreg, i int) vreg
	// join sets m to the lanes of two halves.
	join(low, high, m vreg)
	// compare sets p.to, a mask, to the lanes in which op holds.
	compare(op ir.Op, p pair)
	// blend takes p.x in the lanes of m and p.y in others.
	blend(m vreg, p pair)
	// mix sets to to x in the lanes of m.
	mix(m, x, to vreg, wide bool)
	// only takes x in the lanes of m and 0 in others.
	only(m, x, to vreg, wide bool)
}

// maskOp is an operation on masks.
type maskOp uint8

const (
	maskAnd maskOp = iota
	maskWithout
	maskOr
	maskXor
	maskSame
)

// memoryUnit writes accesses to memory, of the lanes of a mask; 0 is all.
type memoryUnit interface {
	// load reads neighbouring elements. Those of 1 or 2 bytes are extended to 4.
	load(at vasm.Operand, m, to vreg, e element)
	// store writes neighbouring elements of size bytes: the lowest bytes of each lane.
	store(x vreg, at vasm.Operand, m vreg, size int64)
	// gather reads from the addresses in two wide vectors, which the mask is for.
	gather(at [2]vreg, m vreg, to [2]vreg, wide bool)
	// scatter writes size bytes to each of the addresses in two wide vectors, in the order of the lanes.
	scatter(x, at [2]vreg, m vreg, size int64)
	// broadcast brings an integer into all lanes.
	broadcast(n, to vreg, wide bool)
	// count sets to to the number of the lane.
	count(to vreg)
	// steps sets to to the number of the lane times the stride, for half i of a wide vector.
	steps(i int, stride int64, to vreg)
}

// numberUnit writes operations on numbers.
type numberUnit interface {
	// binary writes an operation of binaryLanes.
	binary(op ir.Op, p pair)
	// times multiplies integers of 64 bits.
	times(x vreg, n int64, to vreg)
	// round rounds floats to integers.
	round(op ir.Op, x, to vreg, wide bool)
	// extreme writes the smaller or larger of two floats, NaN where one is.
	extreme(op ir.Op, p pair)
	// convert writes a conversion of numbers, and reports whether there is a way to.
	convert(v *ir.Value, x, to [2]vreg) bool
	// integer converts floats to integers of the same size; out of range, and of NaN, they are the least number.
	integer(x, to vreg, wide bool)
	// floats converts integers of 32 bits to floats of 64, exactly.
	floats(x vreg, signed bool) [2]vreg
	// integers truncates floats of 64 bits to integers of 32; those out of range become any number.
	integers(x [2]vreg, signed bool, to vreg)
	// truncate takes the lower halves of lanes of 64 bits.
	truncate(low, high, to vreg)
	// pack returns a register that begins with the lowest size bytes, 1 or 2, of each lane of 32 bits.
	pack(x vreg, size int64) vreg
	// fromF16 converts lanes that hold F16s to floats of 32 bits.
	fromF16(x, to vreg)
	// toF16 converts floats of 32 bits to lanes that hold F16s and zeros. The bits of a NaN are any NaN's.
	toF16(x, to vreg)
}

// element is a type of elements in memory.
type element struct {
	size   int64
	signed bool // of 1 or 2 bytes: extended by the sign bit
}

// assembler is what units write to.
type assembler struct {
	code            *vasm.Func
	unit            unit
	consts          map[constant]vreg
	extract, insert string // the instructions for the upper half of a register
	piece           string // the instruction that extracts 128 bits of a register
}

// units returns the units that there is code for, the largest first.
func units() []func() *assembler {
	return []func() *assembler{
		func() *assembler {
			a := &assembler{code: vasm.New(&vasm.AVX512), consts: map[constant]vreg{}, extract: "VEXTRACTI64X4", insert: "VINSERTI64X4", piece: "VEXTRACTI64X2"}
			a.unit = avx512{a}
			return a
		},
		func() *assembler {
			a := &assembler{code: vasm.New(&vasm.AVX2), consts: map[constant]vreg{}, extract: "VEXTRACTI128", insert: "VINSERTI128", piece: "VEXTRACTI128"}
			a.unit = avx2{a, map[vreg][2]vreg{}}
			return a
		},
	}
}

func (a *assembler) vector() vreg { return a.code.Reg(vasm.Vector) }

// number returns a register with a number.
func (a *assembler) number(n int64) vreg {
	r := a.code.Reg(vasm.Integer)
	a.code.Once("MOVQ", vasm.Imm(n), vasm.Def(r))
	return r
}

// constant returns a vector with a number in all lanes.
func (a *assembler) constant(bits int64, wide bool) vreg {
	key := constant{bits, wide}
	r := a.consts[key]
	if r == 0 {
		r = a.vector()
		a.code.Ahead(func() { a.unit.broadcast(a.number(bits), r, wide) })
		a.consts[key] = r
	}
	return r
}

// pair writes an instruction on two vectors.
func (a *assembler) pair(op string, p pair) {
	a.code.Op(op, vasm.Use(p.y), vasm.Use(p.x), vasm.Def(p.to))
}

// result writes an instruction that writes a new vector, and returns that.
func (a *assembler) result(op string, from ...vasm.Operand) vreg {
	to := a.vector()
	a.code.Op(op, append(from, vasm.Def(to))...)
	return to
}

// two writes an instruction on two vectors, x being what Intel's manual has first.
func (a *assembler) two(op string, x, y vreg) vreg { return a.result(op, vasm.Use(y), vasm.Use(x)) }

// shifted writes a shift by a number.
func (a *assembler) shifted(op string, by int64, x vreg) vreg {
	return a.result(op, vasm.Imm(by), vasm.Use(x))
}

// extend applies a conversion from 32 to 64 bits.
func (a *assembler) extend(op string, x vreg, to [2]vreg) {
	high := a.vector()
	a.code.Op(a.extract, vasm.Imm(1), vasm.Use(x), vasm.Def(high).Half())
	a.code.Op(op, vasm.Use(x).Half(), vasm.Def(to[0]))
	a.code.Op(op, vasm.Use(high).Half(), vasm.Def(to[1]))
}

// extended returns what extend writes, in new registers.
func (a *assembler) extended(op string, x vreg) [2]vreg {
	to := [2]vreg{a.vector(), a.vector()}
	a.extend(op, x, to)
	return to
}

// shorten applies a conversion from 64 to 32 bits.
func (a *assembler) shorten(op string, x [2]vreg, to vreg) {
	low, high := a.vector(), a.vector()
	a.code.Op(op, vasm.Use(x[0]), vasm.Def(low).Half())
	a.code.Op(op, vasm.Use(x[1]), vasm.Def(high).Half())
	a.code.Op(a.insert, vasm.Imm(1), vasm.Use(high).Half(), vasm.Use(low), vasm.Def(to))
}

// binaryLanes are operations on two vectors, of 32 and of 64 bits.
var binaryLanes = map[ir.Op][2]string{
	ir.OpAdd: {"VPADDD", "VPADDQ"}, ir.OpSub: {"VPSUBD", "VPSUBQ"}, ir.OpMul: {"VPMULLD", "VPMULLQ"},
	ir.OpAnd: {"VPANDD", "VPANDQ"}, ir.OpOr: {"VPORD", "VPORQ"}, ir.OpXor: {"VPXORD", "VPXORQ"},
	ir.OpFAdd: {"VADDPS", "VADDPD"}, ir.OpFSub: {"VSUBPS", "VSUBPD"}, ir.OpFMul: {"VMULPS", "VMULPD"}, ir.OpFDiv: {"VDIVPS", "VDIVPD"},
	ir.OpShl: {"VPSLLVD", "VPSLLVQ"}, ir.OpLShr: {"VPSRLVD", "VPSRLVQ"}, ir.OpAShr: {"VPSRAVD", "VPSRAVQ"},
}

// roundings are the numbers that instructions have for ways to round.
var roundings = map[ir.Op]int64{ir.OpFFloor: 9, ir.OpFCeil: 10, ir.OpFTrunc: 11, ir.OpFRint: 8}

// predicates are the numbers that instructions have for comparisons.
var predicates = map[ir.Op]int64{
	ir.OpEq: 0, ir.OpNe: 4, ir.OpSLt: 1, ir.OpSLe: 2, ir.OpULt: 1, ir.OpULe: 2,
	ir.OpFEq: 0, ir.OpFNe: 4, ir.OpFLt: 0x11, ir.OpFLe: 0x12,
}

// Further predicates: unordered, ordered, greater or equal.
const (
	notOrdered = 3
	isNotLess  = 0x1d
)

type vreg = vasm.Reg

// isWide reports whether a vector of type t has two registers.
func isWide(t *ir.Type) bool { return t.Kind == ir.KindI64 || t.Kind == ir.KindF64 || t.IsPtr() }

type constant struct {
	bits int64
	wide bool
}

func pick(names [2]string, wide bool) string {
	if wide {
		return names[1]
	}
	return names[0]
}

// each writes what write does for a lane, for the lanes of m only; 0 is all.
func (a *assembler) each(m vreg, write func(lane int)) {
	var set vreg
	if m != 0 {
		set = a.unit.bits(m)
	}
	for lane := range a.unit.lanes() {
		next := a.code.NewLabel()
		if m != 0 {
			a.code.Op("TESTL", vasm.Imm(1<<lane), vasm.Use(set))
			a.code.Jump("JEQ", next)
		}
		write(lane)
		if m != 0 {
			a.code.Label(next)
		}
	}
}

// pieceOf returns a register whose lowest 128 bits are piece i of x.
func (a *assembler) pieceOf(x vreg, i int) vreg {
	if i == 0 {
		return x
	}
	to := a.vector()
	a.code.Op(a.piece, vasm.Imm(int64(i)), vasm.Use(x), vasm.Def(to).Word())
	return to
}

// scatterEach is scatter where there is no instruction for it.
func (a *assembler) scatterEach(x, at [2]vreg, m vreg, size int64) {
	lanes := a.unit.lanes()
	pointers, elements := make([]vreg, lanes/2), make([]vreg, lanes) // of pairs of lanes, and of lanes
	for i := range pointers {
		pointers[i] = a.pieceOf(at[i/(lanes/4)], i%(lanes/4))
	}
	if size < 4 {
		x[0] = a.unit.pack(x[0], size)
	}
	perPiece := int(16 / size)
	for i := range lanes {
		piece := i / perPiece
		switch {
		case i%perPiece != 0:
			elements[i] = elements[i-1]
		case size == 8:
			elements[i] = a.pieceOf(x[piece/(lanes/4)], piece%(lanes/4))
		default:
			elements[i] = a.pieceOf(x[0], piece)
		}
	}
	a.each(m, func(lane int) {
		p := a.code.Reg(vasm.Integer)
		a.code.Op("VPEXTRQ", vasm.Imm(int64(lane%2)), vasm.Use(pointers[lane/2]).Word(), vasm.Def(p))
		a.code.Op(extractions[size], vasm.Imm(int64(lane%perPiece)), vasm.Use(elements[lane]).Word(), vasm.Mem(p, 0))
	})
}

// extensions are the instructions that extend neighbouring elements to 32 bits.
var extensions = map[element]string{{1, false}: "VPMOVZXBD", {1, true}: "VPMOVSXBD", {2, false}: "VPMOVZXWD", {2, true}: "VPMOVSXWD"}

// extractions are the instructions that store an element of a register, by the element's size.
var extractions = map[int64]string{1: "VPEXTRB", 2: "VPEXTRW", 4: "VPEXTRD", 8: "VPEXTRQ"}
