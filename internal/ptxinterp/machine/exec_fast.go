package machine

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// The common instructions once more, several times as fast as by a call for each thread. They
// are right where package scalar is: what is not a plain number goes there, and a test compares
// the two.

// fast2 returns how to execute an instruction of two operands.
func fast2(in *ptx.Instr) func(*warp, *instr, uint32) {
	switch in.String() {
	case "add.u32", "add.s32":
		return addInts[uint32]
	case "add.u64", "add.s64":
		return addInts[uint64]
	case "sub.u32", "sub.s32":
		return subInts[uint32]
	case "sub.u64", "sub.s64":
		return subInts[uint64]
	case "mul.lo.u32", "mul.lo.s32":
		return mulInts[uint32]
	case "mul.lo.u64", "mul.lo.s64", "mul.wide.u32":
		return mulInts[uint64]
	case "and.b16", "and.b32", "and.b64":
		return andBits
	case "or.b16", "or.b32", "or.b64":
		return orBits
	case "xor.b16", "xor.b32", "xor.b64":
		return xorBits
	case "shl.b32":
		return shiftLeft[uint32]
	case "shl.b64":
		return shiftLeft[uint64]
	case "shr.u32", "shr.b32", "shr.u64", "shr.b64":
		return shiftRight
	case "add.f32", "add.rn.f32":
		return addSingles
	case "sub.f32", "sub.rn.f32":
		return subSingles
	case "mul.f32", "mul.rn.f32":
		return mulSingles
	case "add.f64", "add.rn.f64":
		return addDoubles
	case "sub.f64", "sub.rn.f64":
		return subDoubles
	case "mul.f64", "mul.rn.f64":
		return mulDoubles
	}
	return exec2
}

// fast3 returns how to execute an instruction of three operands.
func fast3(in *ptx.Instr) func(*warp, *instr, uint32) {
	switch in.String() {
	case "mad.lo.u32", "mad.lo.s32":
		return madInts[uint32]
	case "mad.lo.u64", "mad.lo.s64", "mad.wide.u32":
		return madInts[uint64]
	case "fma.rn.f32":
		return fmaSingles
	case "fma.rn.f64":
		return fmaDoubles
	}
	return exec3
}

type word interface{ uint32 | uint64 }

func addInts[T word](w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = uint64(T(a[l]) + T(b[l]))
		}
	}
}

func subInts[T word](w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = uint64(T(a[l]) - T(b[l]))
		}
	}
}

func mulInts[T word](w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = uint64(T(a[l]) * T(b[l]))
		}
	}
}

func madInts[T word](w *warp, in *instr, mask uint32) {
	d, a, b, c := w.row(in.d), w.row(in.a), w.row(in.b), w.row(in.c)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = uint64(T(a[l])*T(b[l]) + T(c[l]))
		}
	}
}

func andBits(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = a[l] & b[l]
		}
	}
}

func orBits(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = a[l] | b[l]
		}
	}
}

func xorBits(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = a[l] ^ b[l]
		}
	}
}

func shiftLeft[T word](w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = uint64(T(a[l]) << b[l])
		}
	}
}

func shiftRight(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = a[l] >> b[l]
		}
	}
}

// fastConvert returns how to execute a conversion between integers that does not clamp, or nil, and the bits of the result that may be
// set. The narrower type says whether the sign is extended; of two types of one size, that of the result.
func fastConvert(to, from ptx.Type, clamp bool) (exec func(*warp, *instr, uint32), bits uint64) {
	if clamp || !isInt(to) || !isInt(from) {
		return nil, 0
	}
	bits = mask(8)
	if to.Class() == ptx.Unsigned {
		bits = mask(to.Size())
	}
	narrower := to
	if from.Size() < to.Size() {
		narrower = from
	}
	switch narrower {
	case ptx.S8:
		return extend[int8], bits
	case ptx.U8:
		return extend[uint8], bits
	case ptx.S16:
		return extend[int16], bits
	case ptx.U16:
		return extend[uint16], bits
	case ptx.S32:
		return extend[int32], bits
	case ptx.U32:
		return extend[uint32], bits
	}
	return extend[uint64], bits
}

func isInt(t ptx.Type) bool { return t.Class() == ptx.Signed || t.Class() == ptx.Unsigned }

func extend[T int8 | uint8 | int16 | uint16 | int32 | uint32 | uint64](w *warp, in *instr, mask uint32) {
	d, a := w.row(in.d), w.row(in.a)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = uint64(T(a[l])) & in.imm
		}
	}
}

func single(a uint64) float32 { return math.Float32frombits(uint32(a)) }

func addSingles(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = in.single2(single(a[l])+single(b[l]), a[l], b[l])
		}
	}
}

func subSingles(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = in.single2(single(a[l])-single(b[l]), a[l], b[l])
		}
	}
}

func mulSingles(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = in.single2(single(a[l])*single(b[l]), a[l], b[l])
		}
	}
}

// single2 returns the bits of a result, or for NaN what package scalar says.
func (in *instr) single2(f float32, a, b uint64) uint64 {
	if f == f {
		return uint64(math.Float32bits(f))
	}
	return in.f2(a, b)
}

func addDoubles(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = in.double2(math.Float64frombits(a[l])+math.Float64frombits(b[l]), a[l], b[l])
		}
	}
}

func subDoubles(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = in.double2(math.Float64frombits(a[l])-math.Float64frombits(b[l]), a[l], b[l])
		}
	}
}

func mulDoubles(w *warp, in *instr, mask uint32) {
	d, a, b := w.row(in.d), w.row(in.a), w.row(in.b)
	for l := range d {
		if mask>>l&1 != 0 {
			d[l] = in.double2(math.Float64frombits(a[l])*math.Float64frombits(b[l]), a[l], b[l])
		}
	}
}

func (in *instr) double2(f float64, a, b uint64) uint64 {
	if f == f {
		return math.Float64bits(f)
	}
	return in.f2(a, b)
}

// fmaSingles rounds the double sum of the exact product to single. This second rounding is wrong only near the midpoint between two
// singles, and where the result is subnormal: these cases go to package scalar, and so does NaN.
func fmaSingles(w *warp, in *instr, mask uint32) {
	d, a, b, c := w.row(in.d), w.row(in.a), w.row(in.b), w.row(in.c)
	for l := range d {
		if mask>>l&1 == 0 {
			continue
		}
		f := float64(single(a[l]))*float64(single(b[l])) + float64(single(c[l]))
		if u := math.Float64bits(f); u<<35 != 1<<63 && u<<1 >= 0x381<<53 && f == f {
			d[l] = uint64(math.Float32bits(float32(f)))
		} else {
			d[l] = in.f3(a[l], b[l], c[l])
		}
	}
}

func fmaDoubles(w *warp, in *instr, mask uint32) {
	d, a, b, c := w.row(in.d), w.row(in.a), w.row(in.b), w.row(in.c)
	for l := range d {
		if mask>>l&1 == 0 {
			continue
		}
		f := math.FMA(math.Float64frombits(a[l]), math.Float64frombits(b[l]), math.Float64frombits(c[l]))
		if f == f {
			d[l] = math.Float64bits(f)
		} else {
			d[l] = in.f3(a[l], b[l], c[l])
		}
	}
}

// fastCompare returns how to find the threads for which a comparison holds, or nil.
func fastCompare(op string, t ptx.Type, ftz bool) func(a, b *row) uint32 {
	switch t {
	case ptx.S32:
		return compareInts[int32](op)
	case ptx.U32, ptx.B32:
		return compareInts[uint32](op)
	case ptx.S64:
		return compareInts[int64](op)
	case ptx.U64, ptx.B64:
		return compareInts[uint64](op)
	case ptx.F64:
		return compareDoubles(op)
	case ptx.F32:
		if !ftz {
			return compareSingles(op)
		}
	}
	return nil
}

func compareInts[T int32 | uint32 | int64 | uint64](op string) func(a, b *row) uint32 {
	switch op {
	case "eq":
		return equal[T]
	case "ne":
		return func(a, b *row) uint32 { return ^equal[T](a, b) }
	case "lt", "lo":
		return less[T]
	case "gt", "hi":
		return func(a, b *row) uint32 { return less[T](b, a) }
	case "le", "ls":
		return func(a, b *row) uint32 { return ^less[T](b, a) }
	case "ge", "hs":
		return func(a, b *row) uint32 { return ^less[T](a, b) }
	}
	return nil
}

func equal[T int32 | uint32 | int64 | uint64](a, b *row) (outcome uint32) {
	for l := range a {
		if T(a[l]) == T(b[l]) {
			outcome |= 1 << l
		}
	}
	return outcome
}

func less[T int32 | uint32 | int64 | uint64](a, b *row) (outcome uint32) {
	for l := range a {
		if T(a[l]) < T(b[l]) {
			outcome |= 1 << l
		}
	}
	return outcome
}

// compareSingles has no ne, which is false for NaN where Go's is true.
func compareSingles(op string) func(a, b *row) uint32 {
	return ordered(op, func(a *row) (v [warpSize]float32) {
		for l := range v {
			v[l] = single(a[l])
		}
		return v
	})
}

func compareDoubles(op string) func(a, b *row) uint32 {
	return ordered(op, func(a *row) (v [warpSize]float64) {
		for l := range v {
			v[l] = math.Float64frombits(a[l])
		}
		return v
	})
}

// ordered compares the floats that the function makes of two rows.
func ordered[T float32 | float64](op string, numbers func(*row) [warpSize]T) func(a, b *row) uint32 {
	below := func(a, b *row) (outcome uint32) {
		x, y := numbers(a), numbers(b)
		for l := range x {
			if x[l] < y[l] {
				outcome |= 1 << l
			}
		}
		return outcome
	}
	upTo := func(a, b *row) (outcome uint32) {
		x, y := numbers(a), numbers(b)
		for l := range x {
			if x[l] <= y[l] {
				outcome |= 1 << l
			}
		}
		return outcome
	}
	switch op {
	case "lt":
		return below
	case "gt":
		return func(a, b *row) uint32 { return below(b, a) }
	case "le":
		return upTo
	case "ge":
		return func(a, b *row) uint32 { return upTo(b, a) }
	}
	return nil
}
