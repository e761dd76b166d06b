package numbers

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// misfit has conversions to integers of floats that need not fit.
type misfit struct {
	Int8            int8
	Int16           int16
	Int32, Single32 int32
	Int64, Single64 int64
	Uint8           uint8
	Uint16          uint16
	Uint32          uint32
	Uint64          uint64
	Known           int32
}

func misfitsOf(x float64) misfit {
	s, huge := float32(x), 1e30
	if x > 0 {
		huge = -huge
	}
	return misfit{
		Int8: int8(x), Int16: int16(x), Int32: int32(x), Int64: int64(x), Single32: int32(s), Single64: int64(s),
		Uint8: uint8(s), Uint16: uint16(x), Uint32: uint32(s), Uint64: uint64(x), Known: int32(huge),
	}
}

// nearestOf is what a GPU makes of x.
func nearestOf(x float64) misfit {
	s := float64(float32(x))
	m := misfit{
		Int8: int8(nearest(x, 8)), Int16: int16(nearest(x, 16)), Int32: int32(nearest(x, 32)), Int64: nearest(x, 64),
		Single32: int32(nearest(s, 32)), Single64: nearest(s, 64),
		Uint8: uint8(nearestUnsigned(s, 8)), Uint16: uint16(nearestUnsigned(x, 16)), Uint32: uint32(nearestUnsigned(s, 32)), Uint64: nearestUnsigned(x, 64),
		Known: math.MaxInt32,
	}
	if x > 0 {
		m.Known = math.MinInt32
	}
	return m
}

// nearest returns the integer of some bits that is nearest to x, towards zero, and 0 for a NaN.
func nearest(x float64, bits int) int64 {
	limit := math.Ldexp(1, bits-1)
	switch {
	case x != x:
		return 0
	case x >= limit:
		return 1<<(bits-1) - 1
	case x < -limit:
		return -1 << (bits - 1)
	}
	return int64(x)
}

func nearestUnsigned(x float64, bits int) uint64 {
	switch {
	case !(x >= 0):
		return 0
	case x >= math.Ldexp(1, bits):
		return 1<<bits - 1
	}
	return uint64(x)
}

//gpu:kernel
func convertMisfits(t gpu.Thread, in []float64, out []misfit) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = misfitsOf(in[i])
	}
}

// convertMisfitsInLanes is a kernel that the CPU device runs with vector code.
//
//gpu:kernel
func convertMisfitsInLanes(t gpu.Thread, in []float64, wide []int64, narrow []int32) {
	if i := t.GlobalX(); i < len(in) {
		wide[i] = int64(in[i])
		narrow[i] = int32(float32(in[i]))
	}
}

// misfits are floats around the limits of integers, and far from them.
func misfits() []float64 {
	list := []float64{0, 0.5, -0.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300}
	for _, bits := range []int{7, 8, 15, 16, 31, 32, 63, 64} {
		limit := math.Ldexp(1, bits)
		list = append(list, limit, -limit, limit-1, -limit-1, limit+0.5, -limit+0.5, 3*limit, -3*limit)
	}
	return list
}

// misfitting compares with what the CPU itself makes of floats that do not fit, or with the nearest numbers.
func misfitting(r *check.Run) {
	in := misfits()
	out := check.Make[misfit](r, len(in))
	wide, narrow := check.Make[int64](r, len(in)), check.Make[int32](r, len(in))
	grid := device.Cover(len(in), 32)
	floats := check.Upload(r, in...)
	r.Launch(ConvertMisfits(r.Stream, grid, floats, out))
	r.Launch(ConvertMisfitsInLanes(r.Stream, grid, floats, wide, narrow))
	want := nearestOf
	if r.Device.Info().Kind == "cpu" {
		want = misfitsOf
	}
	all, wides, narrows := check.Get(r, out), check.Get(r, wide), check.Get(r, narrow)
	for i, x := range in {
		w := want(x)
		if all[i] != w {
			r.Wrong("of %v are %+v, want %+v", x, all[i], w)
		}
		if wides[i] != w.Int64 || narrows[i] != w.Single32 {
			r.Wrong("of %v are %d and %d in lanes, want %d and %d", x, wides[i], narrows[i], w.Int64, w.Single32)
		}
	}
}
