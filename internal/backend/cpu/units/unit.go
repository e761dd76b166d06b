package units

import (
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Unit writes what a processor's vector units do. Registers have lanes of 32 bits, or half as many of 64 where
// wide is set: the threads of a vector are as many as there are lanes of 32 bits.
//
// A mask has a bit, or a lane, for each thread. For wide vectors it is taken in two halves: see Half.
type Unit interface {
	// Lanes returns how many lanes of 32 bits a register has.
	Lanes() int
	// Name is what the names of functions end in.
	Name() string

	maskUnit
	memoryUnit
	numberUnit
}

// Pair is two vectors and where the result of an operation on them goes.
type Pair struct {
	X, Y, To Vreg
	Wide     bool
}

// maskUnit writes operations on masks.
type maskUnit interface {
	// Mask returns a new register for a mask.
	Mask() Vreg
	// None sets m to no lanes.
	None(m Vreg)
	// All sets m to all lanes.
	All(m Vreg)
	// CopyMask copies a mask.
	CopyMask(from, to Vreg)
	// Logic combines masks.
	Logic(op MaskOp, x, y, to Vreg)
	// Test sets the flags: equal where m has no lanes.
	Test(m Vreg)
	// UnlessAll jumps where m has not all lanes.
	UnlessAll(m Vreg, label string)
	// Not inverts a mask.
	Not(x, to Vreg)
	// Truth sets m to all lanes or none by an integer that is -1 or 0.
	Truth(n, m Vreg)
	// Odd sets m to the lanes in which the integers of x are odd.
	Odd(x, m Vreg)
	// Bits returns an integer with a bit for each lane of m.
	Bits(m Vreg) Vreg
	// Half returns the lanes of m that half i of a wide vector has; 0 is all.
	Half(m Vreg, i int) Vreg
	// Join sets m to the lanes of two halves.
	Join(low, high, m Vreg)
	// Compare sets p.to, a mask, to the lanes in which op holds.
	Compare(op ir.Op, p Pair)
	// Blend takes p.x in the lanes of m and p.y in others.
	Blend(m Vreg, p Pair)
	// Mix sets to to x in the lanes of m.
	Mix(m, x, to Vreg, wide bool)
	// Only takes x in the lanes of m and 0 in others.
	Only(m, x, to Vreg, wide bool)
}

// MaskOp is an operation on masks.
type MaskOp uint8

// The operations on masks.
const (
	MaskAnd MaskOp = iota
	MaskWithout
	MaskOr
	MaskXor
	MaskSame
)

// memoryUnit writes accesses to memory, of the lanes of a mask; 0 is all.
type memoryUnit interface {
	// Load reads neighbouring elements. Those of 1 or 2 bytes are extended to 4.
	Load(at vasm.Operand, m, to Vreg, e Element)
	// Store writes neighbouring elements of size bytes: the lowest bytes of each lane.
	Store(x Vreg, at vasm.Operand, m Vreg, size int64)
	// Gather reads from the addresses in two wide vectors, which the mask is for.
	Gather(at [2]Vreg, m Vreg, to [2]Vreg, wide bool)
	// Scatter writes size bytes to each of the addresses in two wide vectors, in the order of the lanes.
	Scatter(x, at [2]Vreg, m Vreg, size int64)
	// Broadcast brings an integer into all lanes.
	Broadcast(n, to Vreg, wide bool)
	// Count sets to to the number of the lane.
	Count(to Vreg)
	// Steps sets to to the number of the lane times the stride, for half i of a wide vector.
	Steps(i int, stride int64, to Vreg)
}

// numberUnit writes operations on numbers.
type numberUnit interface {
	// Binary writes an operation of binaryLanes.
	Binary(op ir.Op, p Pair)
	// Times multiplies integers of 64 bits.
	Times(x Vreg, n int64, to Vreg)
	// Round rounds floats to integers.
	Round(op ir.Op, x, to Vreg, wide bool)
	// Extreme writes the smaller or larger of two floats, NaN where one is.
	Extreme(op ir.Op, p Pair)
	// Convert writes a conversion of numbers, and reports whether there is a way to.
	Convert(v *ir.Value, x, to [2]Vreg) bool
	// Integer converts floats to integers of the same size; out of range, and of NaN, they are the least number.
	Integer(x, to Vreg, wide bool)
	// Floats converts integers of 32 bits to floats of 64, exactly.
	Floats(x Vreg, signed bool) [2]Vreg
	// Integers truncates floats of 64 bits to integers of 32; those out of range become any number.
	Integers(x [2]Vreg, signed bool, to Vreg)
	// Truncate takes the lower halves of lanes of 64 bits.
	Truncate(low, high, to Vreg)
	// pack returns a register that begins with the lowest size bytes, 1 or 2, of each lane of 32 bits.
	pack(x Vreg, size int64) Vreg
	// FromF16 converts lanes that hold F16s to floats of 32 bits.
	FromF16(x, to Vreg)
	// ToF16 converts floats of 32 bits to lanes that hold F16s and zeros. The bits of a NaN are any NaN's.
	ToF16(x, to Vreg)
}

// Element is a type of elements in memory.
type Element struct {
	Size   int64
	Signed bool // of 1 or 2 bytes: extended by the sign bit
}

// Assembler is what units write to.
type Assembler struct {
	Code            *vasm.Func
	Unit            Unit
	consts          map[Constant]Vreg
	extract, insert string // the instructions for the upper half of a register
	piece           string // the instruction that extracts 128 bits of a register
}

// All returns the units that there is code for, the largest first.
func All() []func() *Assembler {
	return []func() *Assembler{
		func() *Assembler {
			a := &Assembler{Code: vasm.New(&vasm.AVX512), consts: map[Constant]Vreg{}, extract: "VEXTRACTI64X4", insert: "VINSERTI64X4", piece: "VEXTRACTI64X2"}
			a.Unit = avx512{a}
			return a
		},
		func() *Assembler {
			a := &Assembler{Code: vasm.New(&vasm.AVX2), consts: map[Constant]Vreg{}, extract: "VEXTRACTI128", insert: "VINSERTI128", piece: "VEXTRACTI128"}
			a.Unit = avx2{a, map[Vreg][2]Vreg{}}
			return a
		},
	}
}

// Vector returns a new vector register.
func (a *Assembler) Vector() Vreg { return a.Code.Reg(vasm.Vector) }

// Number returns a register with a number.
func (a *Assembler) Number(n int64) Vreg {
	r := a.Code.Reg(vasm.Integer)
	a.Code.Once("MOVQ", vasm.Imm(n), vasm.Def(r))
	return r
}

// Constant returns a vector with a number in all lanes.
func (a *Assembler) Constant(bits int64, wide bool) Vreg {
	key := Constant{bits, wide}
	r := a.consts[key]
	if r == 0 {
		r = a.Vector()
		a.Code.Ahead(func() { a.Unit.Broadcast(a.Number(bits), r, wide) })
		a.consts[key] = r
	}
	return r
}

// Pair writes an instruction on two vectors.
func (a *Assembler) pair(op string, p Pair) {
	a.Code.Op(op, vasm.Use(p.Y), vasm.Use(p.X), vasm.Def(p.To))
}

// result writes an instruction that writes a new vector, and returns that.
func (a *Assembler) result(op string, from ...vasm.Operand) Vreg {
	to := a.Vector()
	a.Code.Op(op, append(from, vasm.Def(to))...)
	return to
}

// Two writes an instruction on two vectors, x being what Intel's manual has first.
func (a *Assembler) Two(op string, x, y Vreg) Vreg { return a.result(op, vasm.Use(y), vasm.Use(x)) }

// Shifted writes a shift by a number.
func (a *Assembler) Shifted(op string, by int64, x Vreg) Vreg {
	return a.result(op, vasm.Imm(by), vasm.Use(x))
}

// Extend applies a conversion from 32 to 64 bits.
func (a *Assembler) Extend(op string, x Vreg, to [2]Vreg) {
	high := a.Vector()
	a.Code.Op(a.extract, vasm.Imm(1), vasm.Use(x), vasm.Def(high).Half())
	a.Code.Op(op, vasm.Use(x).Half(), vasm.Def(to[0]))
	a.Code.Op(op, vasm.Use(high).Half(), vasm.Def(to[1]))
}

// Extended returns what extend writes, in new registers.
func (a *Assembler) Extended(op string, x Vreg) [2]Vreg {
	to := [2]Vreg{a.Vector(), a.Vector()}
	a.Extend(op, x, to)
	return to
}

// shorten applies a conversion from 64 to 32 bits.
func (a *Assembler) shorten(op string, x [2]Vreg, to Vreg) {
	low, high := a.Vector(), a.Vector()
	a.Code.Op(op, vasm.Use(x[0]), vasm.Def(low).Half())
	a.Code.Op(op, vasm.Use(x[1]), vasm.Def(high).Half())
	a.Code.Op(a.insert, vasm.Imm(1), vasm.Use(high).Half(), vasm.Use(low), vasm.Def(to))
}

// BinaryLanes are operations on two vectors, of 32 and of 64 bits.
var BinaryLanes = map[ir.Op][2]string{
	ir.OpAdd: {"VPADDD", "VPADDQ"}, ir.OpSub: {"VPSUBD", "VPSUBQ"}, ir.OpMul: {"VPMULLD", "VPMULLQ"},
	ir.OpAnd: {"VPANDD", "VPANDQ"}, ir.OpOr: {"VPORD", "VPORQ"}, ir.OpXor: {"VPXORD", "VPXORQ"},
	ir.OpFAdd: {"VADDPS", "VADDPD"}, ir.OpFSub: {"VSUBPS", "VSUBPD"}, ir.OpFMul: {"VMULPS", "VMULPD"}, ir.OpFDiv: {"VDIVPS", "VDIVPD"},
	ir.OpShl: {"VPSLLVD", "VPSLLVQ"}, ir.OpLShr: {"VPSRLVD", "VPSRLVQ"}, ir.OpAShr: {"VPSRAVD", "VPSRAVQ"},
}

// Roundings are the numbers that instructions have for ways to round.
var Roundings = map[ir.Op]int64{ir.OpFFloor: 9, ir.OpFCeil: 10, ir.OpFTrunc: 11, ir.OpFRint: 8}

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

// Vreg is a virtual register, of a vector or of what else the function says.
type Vreg = vasm.Reg

// IsWide reports whether a vector of type t has two registers.
func IsWide(t *ir.Type) bool { return t.Kind == ir.KindI64 || t.Kind == ir.KindF64 || t.IsPtr() }

// Constant is a number that all lanes of a vector have.
type Constant struct {
	Bits int64
	Wide bool
}

// Pick returns the name of the instruction for lanes of 64 bits if wide is set, or else for lanes of 32 bits.
func Pick(names [2]string, wide bool) string {
	if wide {
		return names[1]
	}
	return names[0]
}

// each writes what write does for a lane, for the lanes of m only; 0 is all.
func (a *Assembler) each(m Vreg, write func(lane int)) {
	var set Vreg
	if m != 0 {
		set = a.Unit.Bits(m)
	}
	for lane := range a.Unit.Lanes() {
		next := a.Code.NewLabel()
		if m != 0 {
			a.Code.Op("TESTL", vasm.Imm(1<<lane), vasm.Use(set))
			a.Code.Jump("JEQ", next)
		}
		write(lane)
		if m != 0 {
			a.Code.Label(next)
		}
	}
}

// pieceOf returns a register whose lowest 128 bits are piece i of x.
func (a *Assembler) pieceOf(x Vreg, i int) Vreg {
	if i == 0 {
		return x
	}
	to := a.Vector()
	a.Code.Op(a.piece, vasm.Imm(int64(i)), vasm.Use(x), vasm.Def(to).Word())
	return to
}

// scatterEach is scatter where there is no instruction for it.
func (a *Assembler) scatterEach(x, at [2]Vreg, m Vreg, size int64) {
	lanes := a.Unit.Lanes()
	pointers, elements := make([]Vreg, lanes/2), make([]Vreg, lanes) // of pairs of lanes, and of lanes
	for i := range pointers {
		pointers[i] = a.pieceOf(at[i/(lanes/4)], i%(lanes/4))
	}
	if size < 4 {
		x[0] = a.Unit.pack(x[0], size)
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
		p := a.Code.Reg(vasm.Integer)
		a.Code.Op("VPEXTRQ", vasm.Imm(int64(lane%2)), vasm.Use(pointers[lane/2]).Word(), vasm.Def(p))
		a.Code.Op(extractions[size], vasm.Imm(int64(lane%perPiece)), vasm.Use(elements[lane]).Word(), vasm.Mem(p, 0))
	})
}

// extensions are the instructions that extend neighbouring elements to 32 bits.
var extensions = map[Element]string{{1, false}: "VPMOVZXBD", {1, true}: "VPMOVSXBD", {2, false}: "VPMOVZXWD", {2, true}: "VPMOVSXWD"}

// extractions are the instructions that store an element of a register, by the element's size.
var extractions = map[int64]string{1: "VPEXTRB", 2: "VPEXTRW", 4: "VPEXTRD", 8: "VPEXTRQ"}
