package pass

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// The interpreter below runs a function of the IR on one thread, by the words of the table
// of operations and nothing else. Programs that reach beyond their memory or run for too
// long have no defined outcome: errWild, errLong. Joined accesses must be aligned: errMisaligned.

var (
	errWild = errors.New("access outside of memory")
	errLong = errors.New("too many steps")

	errMisaligned = errors.New("misaligned access")
)

// A datum is the value of a scalar, its bits extended by zeros, or of an aggregate.
type datum struct {
	bits  uint64
	parts []datum
}

// stopped is thrown by a fault.
type stopped struct{ fault string }

type machine struct {
	regions []region
	vars    map[*ir.Variable]uint64
	ids     map[ir.Op][3]uint32
	trace   strings.Builder // prints
	steps   int
	setting
	watch func(b *ir.Block, i int, values []datum) // called before value i of a block that is not a phi
	free  []*frame                                 // of calls that have returned
}

func newMachine(s setting) *machine {
	return &machine{setting: s, vars: map[*ir.Variable]uint64{}, ids: map[ir.Op][3]uint32{}}
}

// reset makes the machine as it was when it was new, with the same setting.
func (m *machine) reset() {
	m.regions, m.steps, m.watch = m.regions[:0], 0, nil
	m.trace.Reset()
	clear(m.vars)
	clear(m.ids)
}

// outcome is what a run shows to its surroundings.
type outcome struct {
	fault  string
	prints string
	result string
	memory string // the bytes of the regions that existed at the start
}

// A region is memory from an offset on.
type region struct {
	bytes []byte
	from  int64
}

const regionShift = 32

// alloc adds a region of n zero bytes and returns its address, which is a multiple of align, a power of two, and of no
// larger one.
func (m *machine) alloc(n, align int64) uint64 {
	m.regions = append(m.regions, region{make([]byte, n), align})
	return uint64(len(m.regions))<<regionShift + uint64(align)
}

// bytes returns n bytes at addr.
func (m *machine) bytes(addr uint64, n int64) []byte {
	i := int(addr>>regionShift) - 1
	if i < 0 || i >= len(m.regions) {
		panic(errWild)
	}
	r := m.regions[i]
	off := int64(addr&(1<<regionShift-1)) - r.from
	if off < 0 || off+n > int64(len(r.bytes)) {
		panic(errWild)
	}
	return r.bytes[off : off+n]
}

func (m *machine) load(addr uint64, t *ir.Type) datum {
	if isAggregate(t) {
		var d datum
		for i := range t.NumParts() {
			d.parts = append(d.parts, m.load(addr+uint64(t.PartOffset(i)), t.Part(i)))
		}
		return d
	}
	var buf [8]byte
	copy(buf[:], m.bytes(addr, t.Size()))
	return datum{bits: mask(t, binary.LittleEndian.Uint64(buf[:]))}
}

func (m *machine) store(addr uint64, t *ir.Type, d datum) {
	if isAggregate(t) {
		for i := range t.NumParts() {
			m.store(addr+uint64(t.PartOffset(i)), t.Part(i), d.parts[i])
		}
		return
	}
	if t.IsFloat() && math.IsNaN(toFloat(t, d.bits)) {
		d.bits = fromFloat(t, math.NaN()) // its bits are nobody's business
	}
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], d.bits)
	copy(m.bytes(addr, t.Size()), buf[:])
}

// run calls f and returns what can be seen of it.
func (m *machine) run(f *ir.Func, args []datum) (o outcome, err error) {
	visible := len(m.regions)
	o, err = m.try(f, args)
	o.memory = m.contents(visible)
	return o, err
}

// try is run without the memory in the outcome.
func (m *machine) try(f *ir.Func, args []datum) (o outcome, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stopped:
			o.fault = r.fault
		case error:
			if !slices.Contains([]error{errWild, errLong, errMisaligned}, r) {
				panic(r)
			}
			err = r
		default:
			panic(r)
		}
		o.prints = m.trace.String()
	}()
	o.result = show(f.Result, m.call(f, args, ir.Pos{}))
	return o, nil
}

// contents returns the bytes of the first n regions.
func (m *machine) contents(n int) string {
	var s strings.Builder
	size := n
	for _, r := range m.regions[:n] {
		size += len(r.bytes)
	}
	s.Grow(size)
	for _, r := range m.regions[:n] {
		s.Write(r.bytes)
		s.WriteByte('\n')
	}
	return s.String()
}

// show prints a result, with all NaNs alike.
func show(t *ir.Type, d datum) string {
	switch {
	case isAggregate(t):
		var list []string
		for i, p := range d.parts {
			list = append(list, show(t.Part(i), p))
		}
		return "{" + strings.Join(list, " ") + "}"
	case t.IsFloat() && math.IsNaN(toFloat(t, d.bits)):
		return "NaN"
	case t.Kind == ir.KindVoid || t.IsPtr():
		return ""
	}
	return fmt.Sprintf("%#x", d.bits)
}

func mask(t *ir.Type, b uint64) uint64 {
	if n := t.Bits(); n < 64 {
		b &= 1<<n - 1
	}
	return b
}

// signed returns the bits of an integer of type t as a signed number.
func signed(t *ir.Type, b uint64) int64 {
	n := 64 - t.Bits()
	return int64(b<<n) >> n
}

func toFloat(t *ir.Type, b uint64) float64 {
	if t.Kind == ir.KindF32 {
		return float64(math.Float32frombits(uint32(b)))
	}
	return math.Float64frombits(b)
}

func fromFloat(t *ir.Type, x float64) uint64 {
	if x != x { // NaNs have one form
		x = math.NaN()
	}
	if t.Kind == ir.KindF32 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

func truth(b bool) datum {
	if b {
		return datum{bits: 1}
	}
	return datum{}
}

type frame struct {
	m      *machine
	called ir.Pos  // where the function was called: the place of what has none
	values []datum // by the values' IDs
	args   []datum // of the value or of the phis that are being computed
}

func (m *machine) call(f *ir.Func, args []datum, at ir.Pos) datum {
	fr := m.frame(f, at)
	for i, p := range f.Params {
		fr.values[p.ID] = args[i]
	}
	var from *ir.Block
	for b := f.Blocks[0]; ; {
		next, result := fr.block(b, from)
		if next == nil {
			m.free = append(m.free, fr)
			return result
		}
		b, from = next, b
	}
}

// frame returns the frame of a call, whose values are zero.
func (m *machine) frame(f *ir.Func, at ir.Pos) *frame {
	fr := &frame{m: m}
	if n := len(m.free) - 1; n >= 0 {
		fr, m.free = m.free[n], m.free[:n]
	}
	fr.called = at
	fr.values = slices.Grow(fr.values[:0], f.NumValues())[:f.NumValues()]
	clear(fr.values)
	return fr
}

// block runs b, entered from another block, and returns the next one or the result.
func (fr *frame) block(b, from *ir.Block) (*ir.Block, datum) {
	phis := b.Phis()
	now := fr.args[:0] // phis read what all of them had before
	for _, phi := range phis {
		now = append(now, fr.values[phi.Args[b.PredIndex(from)].ID])
	}
	fr.args = now
	for i, phi := range phis {
		fr.values[phi.ID] = now[i]
	}
	for i, v := range b.Values[len(phis):] {
		if fr.m.watch != nil {
			fr.m.watch(b, len(phis)+i, fr.values)
		}
		if fr.m.steps++; fr.m.steps > fr.m.limit {
			panic(errLong)
		}
		switch v.Op {
		case ir.OpJump:
			return b.Succs[0], datum{}
		case ir.OpIf:
			return b.Succs[1-fr.values[v.Args[0].ID].bits], datum{}
		case ir.OpRet:
			if len(v.Args) == 0 {
				return nil, datum{}
			}
			return nil, fr.values[v.Args[0].ID]
		case ir.OpFault:
			panic(stopped{fr.site(v, v.Args)})
		}
		fr.values[v.ID] = fr.value(v)
	}
	panic("block without end")
}

// place returns where v is in the source. What can fault in functions without places is where these are called.
func (fr *frame) place(v *ir.Value) ir.Pos {
	if !v.Pos.Known() && v.Op != ir.OpPrint {
		return fr.called
	}
	return v.Pos
}

func (fr *frame) site(v *ir.Value, args []*ir.Value) string {
	s := fr.place(v).String() + ": " + v.Aux.(*ir.Site).Format
	for _, a := range args {
		s += " " + show(a.Type, fr.values[a.ID])
	}
	return s + "\n"
}

func (fr *frame) value(v *ir.Value) datum {
	args := fr.args[:0]
	for _, a := range v.Args {
		args = append(args, fr.values[a.ID])
	}
	fr.args = args
	switch {
	case v.Op >= ir.OpAdd && v.Op <= ir.OpBrev:
		return datum{bits: mask(v.Type, interpInt(v, args))}
	case v.Op >= ir.OpEq && v.Op <= ir.OpFLe:
		return truth(interpCompare(v, args))
	case v.Op >= ir.OpFAdd && v.Op <= ir.OpApproxDiv:
		return datum{bits: interpFloat(v, args)}
	case v.Op >= ir.OpTrunc && v.Op <= ir.OpFToBF16:
		return datum{bits: mask(v.Type, interpConvert(v, args[0].bits))}
	case v.Op >= ir.OpConst && v.Op <= ir.OpSelect, v.Op >= ir.OpStruct && v.Op <= ir.OpInsert:
		return fr.shape(v, args)
	}
	return fr.effect(v, args)
}

func zeroDatum(t *ir.Type) datum {
	var d datum
	for i := range t.NumParts() {
		d.parts = append(d.parts, zeroDatum(t.Part(i)))
	}
	return d
}

func (fr *frame) shape(v *ir.Value, args []datum) datum {
	switch v.Op {
	case ir.OpConst:
		return datum{bits: mask(v.Type, uint64(v.Imm))}
	case ir.OpZero:
		return zeroDatum(v.Type)
	case ir.OpSelect:
		return args[2-args[0].bits]
	case ir.OpStruct:
		return datum{parts: slices.Clone(args)}
	case ir.OpExtract:
		return args[0].parts[v.Imm]
	case ir.OpInsert:
		d := datum{parts: append([]datum(nil), args[0].parts...)}
		d.parts[v.Imm] = args[1]
		return d
	}
	panic("BUG: " + v.LongString())
}

func (fr *frame) effect(v *ir.Value, args []datum) datum {
	m := fr.m
	switch v.Op {
	case ir.OpAlloca:
		t := v.Aux.(*ir.Type)
		return datum{bits: m.alloc(t.Size(), t.Align())}
	case ir.OpVar:
		return datum{bits: m.variable(v.Aux.(*ir.Variable))}
	case ir.OpOffset:
		return datum{bits: args[0].bits + uint64(v.Imm)}
	case ir.OpIndex:
		return datum{bits: args[0].bits + uint64(signed(v.Args[1].Type, args[1].bits)*v.Imm)}
	case ir.OpLoad:
		m.aligned(args[0].bits, v.Type)
		return m.load(args[0].bits, v.Type)
	case ir.OpStore:
		m.aligned(args[0].bits, v.Args[1].Type)
		m.store(args[0].bits, v.Args[1].Type, args[1])
	case ir.OpAtomicAdd:
		old := m.load(args[0].bits, v.Type)
		sum := old.bits + args[1].bits
		if v.Type.IsFloat() {
			sum = fromFloat(v.Type, toFloat(v.Type, old.bits)+toFloat(v.Type, args[1].bits))
		}
		m.store(args[0].bits, v.Type, datum{bits: mask(v.Type, sum)})
		return old
	case ir.OpTid, ir.OpNTid, ir.OpCtaid, ir.OpNCtaid:
		return datum{bits: uint64(m.ids[v.Op][v.Imm])}
	case ir.OpCheck:
		if args[0].bits == 0 {
			panic(stopped{fr.site(v, v.Args[1:])})
		}
	case ir.OpPrint:
		m.trace.WriteString(fr.site(v, v.Args))
	case ir.OpCall:
		return m.call(v.Aux.(*ir.Func), args, fr.place(v))
	}
	return zeroDatum(v.Type) // what threads do together, clocks and matrices
}

// aligned stops the program if it moves an array at once that does not start at a multiple of its size.
func (m *machine) aligned(addr uint64, t *ir.Type) {
	if m.joined && t.Kind == ir.KindArray && addr%uint64(t.Size()) != 0 {
		panic(errMisaligned)
	}
}

func (m *machine) variable(v *ir.Variable) uint64 {
	if m.vars[v] == 0 {
		m.vars[v] = m.alloc(v.Type.Size(), analysis.VariableAlign(v))
		copy(m.regions[len(m.regions)-1].bytes, v.Init)
	}
	return m.vars[v]
}

func interpInt(v *ir.Value, args []datum) uint64 {
	t := v.Type
	n := uint64(t.Bits())
	x := args[0].bits
	var y uint64
	if len(args) > 1 {
		y = args[1].bits
	}
	sx, sy := signed(t, x), signed(t, y)
	switch v.Op {
	case ir.OpAdd:
		return x + y
	case ir.OpSub:
		return x - y
	case ir.OpMul:
		return x * y
	case ir.OpSDiv, ir.OpUDiv, ir.OpSRem, ir.OpURem:
		return interpDivision(v.Op, t, x, y)
	case ir.OpUMulHi:
		hi, lo := bits.Mul64(x, y)
		if n == 64 {
			return hi
		}
		return lo >> n
	case ir.OpSMulHi:
		hi, lo := bits.Mul64(uint64(sx), uint64(sy))
		if n < 64 {
			return uint64(int64(lo) >> n)
		}
		return hi - uint64(sx>>63)&uint64(sy) - uint64(sy>>63)&uint64(sx)
	case ir.OpAnd:
		return x & y
	case ir.OpOr:
		return x | y
	case ir.OpXor:
		return x ^ y
	case ir.OpShl:
		if y >= n {
			return 0
		}
		return x << y
	case ir.OpLShr:
		if y >= n {
			return 0
		}
		return x >> y
	case ir.OpAShr:
		return uint64(sx >> min(y, 63))
	case ir.OpPopc:
		return uint64(bits.OnesCount64(x))
	case ir.OpClz:
		return uint64(bits.LeadingZeros64(x)) - (64 - n)
	case ir.OpBrev:
		return bits.Reverse64(x) >> (64 - n)
	}
	panic("BUG: " + v.LongString())
}

// interpDivision returns a quotient or a remainder of integers of type t; by zero it is zero.
func interpDivision(op ir.Op, t *ir.Type, x, y uint64) uint64 {
	sx, sy := signed(t, x), signed(t, y)
	switch {
	case y == 0:
		return 0
	case op == ir.OpSDiv:
		return uint64(sx / sy)
	case op == ir.OpSRem:
		return uint64(sx % sy)
	case op == ir.OpUDiv:
		return x / y
	}
	return x % y
}

func interpCompare(v *ir.Value, args []datum) bool {
	t := v.Args[0].Type
	x, y := args[0].bits, args[1].bits
	if t.IsFloat() {
		a, b := toFloat(t, x), toFloat(t, y)
		return [...]bool{ir.OpFEq: a == b, ir.OpFNe: a != b, ir.OpFLt: a < b, ir.OpFLe: a <= b}[v.Op]
	}
	a, b := signed(t, x), signed(t, y)
	return [...]bool{ir.OpEq: x == y, ir.OpNe: x != y, ir.OpULt: x < y, ir.OpULe: x <= y, ir.OpSLt: a < b, ir.OpSLe: a <= b}[v.Op]
}

// flushed takes what is subnormal as a float32 for zero.
func flushed(x float64) float64 {
	if math.Abs(x) < 0x1p-126 {
		return math.Copysign(0, x)
	}
	return x
}

func interpFloat(v *ir.Value, args []datum) uint64 {
	t := v.Type
	x := toFloat(t, args[0].bits)
	var y float64
	if len(args) > 1 {
		y = toFloat(t, args[1].bits)
	}
	switch v.Op {
	case ir.OpFNeg:
		return args[0].bits ^ 1<<(t.Bits()-1)
	case ir.OpFAbs:
		return args[0].bits &^ (1 << (t.Bits() - 1))
	case ir.OpFCopysign:
		sign := uint64(1) << (t.Bits() - 1)
		return args[0].bits&^sign | args[1].bits&sign
	case ir.OpFma:
		return interpFma(t, x, y, toFloat(t, args[2].bits))
	}
	// Two float32 operands have the same sum, difference, product, quotient and root
	// whether they are rounded from float64 or computed directly.
	return fromFloat(t, interpReal(v.Op, x, y))
}

func interpReal(op ir.Op, x, y float64) float64 {
	switch op {
	case ir.OpFAdd:
		return x + y
	case ir.OpFSub:
		return x - y
	case ir.OpFMul:
		return x * y
	case ir.OpFDiv:
		return x / y
	case ir.OpFSqrt:
		return math.Sqrt(x)
	case ir.OpFFloor:
		return math.Floor(x)
	case ir.OpFCeil:
		return math.Ceil(x)
	case ir.OpFTrunc:
		return math.Trunc(x)
	case ir.OpFRint:
		return math.RoundToEven(x)
	case ir.OpFMin:
		return min(x, y)
	case ir.OpFMax:
		return max(x, y)
	case ir.OpApproxRcp:
		return flushed(1 / flushed(x))
	case ir.OpApproxRsqrt:
		return 1 / math.Sqrt(flushed(x))
	}
	panic("BUG: no such operation: " + op.String())
}

// interpFma rounds x*y+z once. For float32, the product is exact in float64 and the sum is
// made odd where it is inexact, so that the second rounding cannot double the first.
func interpFma(t *ir.Type, x, y, z float64) uint64 {
	if t.Kind == ir.KindF64 {
		return fromFloat(t, math.FMA(x, y, z))
	}
	p := x * y
	s := p + z
	bb := s - p
	rest := (p - (s - bb)) + (z - bb)
	if rest != 0 && !math.IsInf(s, 0) && s == s && math.Float64bits(s)&1 == 0 {
		if (rest > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return fromFloat(t, s)
}

func interpConvert(v *ir.Value, x uint64) uint64 {
	from, to := v.Args[0].Type, v.Type
	switch v.Op {
	case ir.OpTrunc, ir.OpZExt, ir.OpBitcast:
		return x
	case ir.OpSExt:
		return uint64(signed(from, x))
	case ir.OpSToF:
		if to.Kind == ir.KindF32 {
			return uint64(math.Float32bits(float32(signed(from, x))))
		}
		return fromFloat(to, float64(signed(from, x)))
	case ir.OpUToF:
		if to.Kind == ir.KindF32 {
			return uint64(math.Float32bits(float32(x)))
		}
		return fromFloat(to, float64(x))
	case ir.OpF16ToF:
		return uint64(math.Float32bits(dtype.F16(x).Float32()))
	case ir.OpBF16ToF:
		return uint64(math.Float32bits(dtype.BF16(x).Float32()))
	case ir.OpFToF16:
		return uint64(dtype.F16From32(float32(toFloat(from, x))))
	case ir.OpFToBF16:
		return uint64(dtype.BF16From32(float32(toFloat(from, x))))
	case ir.OpFExt, ir.OpFRound:
		return fromFloat(to, toFloat(from, x))
	}
	return interpToInt(v, toFloat(from, x))
}

// interpToInt converts towards zero and stops at the ends of the type's range.
func interpToInt(v *ir.Value, x float64) uint64 {
	n := v.Type.Bits()
	lo, hi := -math.Ldexp(1, n-1), math.Ldexp(1, n-1)
	if v.Op == ir.OpFToU {
		lo, hi = 0, math.Ldexp(1, n)
	}
	x = math.Trunc(x)
	switch {
	case x != x:
		return 0
	case x <= lo && v.Op == ir.OpFToS:
		return 1 << (n - 1)
	case x <= 0 && v.Op == ir.OpFToU:
		return 0
	case x >= hi && v.Op == ir.OpFToS:
		return 1<<(n-1) - 1
	case x >= hi:
		return math.MaxUint64
	case v.Op == ir.OpFToU:
		return uint64(x)
	}
	return uint64(int64(x))
}
