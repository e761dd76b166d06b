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
	var f func(op string) func(a, b *row) uint32
	switch t {
	case ptx.S32:
		f = compareInts[int32]
	case ptx.U32, ptx.B32:
		f = compareInts[uint32]
	case ptx.S64:
		f = compareInts[int64]
	case ptx.U64, ptx.B64:
		f = compareInts[uint64]
	case ptx.F64:
		f = compareDoubles
	case ptx.F32:
		if !ftz {
			f = compareSingles
		}
	}
	if f == nil {
		return nil
	}
	return f(op)
}

func compareInts[T int32 | uint32 | int64 | uint64](op string) func(a, b *row) uint32 {
	numbers := func(a *row) (v [warpSize]T) {
		for l := range v {
			v[l] = T(a[l])
		}
		return v
	}
	return ordered(op, numbers)
}

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

// ordered compares what the function makes of two rows. That ne of a float is false for NaN,
// where Go's is true, is why it is not here.
func ordered[T int32 | uint32 | int64 | uint64 | float32 | float64](op string, numbers func(*row) [warpSize]T) func(a, b *row) uint32 {
	switch op {
	case "lt", "lo":
		return func(a, b *row) uint32 { return less(numbers(a), numbers(b)) }
	case "gt", "hi":
		return func(a, b *row) uint32 { return less(numbers(b), numbers(a)) }
	case "le", "ls":
		return func(a, b *row) uint32 { return lessOrEqual(numbers(a), numbers(b)) }
	case "ge", "hs":
		return func(a, b *row) uint32 { return lessOrEqual(numbers(b), numbers(a)) }
	}
	return nil
}

func less[T int32 | uint32 | int64 | uint64 | float32 | float64](a, b [warpSize]T) (outcome uint32) {
	for l := range a {
		if a[l] < b[l] {
			outcome |= 1 << l
		}
	}
	return outcome
}

func lessOrEqual[T int32 | uint32 | int64 | uint64 | float32 | float64](a, b [warpSize]T) (outcome uint32) {
	for l := range a {
		if a[l] <= b[l] {
			outcome |= 1 << l
		}
	}
	return outcome
}
