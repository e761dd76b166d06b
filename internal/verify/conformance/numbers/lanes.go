package numbers

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// Wide is numbers of 64 bits, from which ComputesInLanes computes.
type Wide struct {
	A, B int64
	X, Y float64
}

// inLanes has what the CPU's vector units do in many ways, as the processor has instructions for it or not.
type inLanes struct {
	FloatOfLong, FloatOfUnsigned, FloatOfWord, FloatOfInt           float64
	SingleOfLong, SingleOfUnsigned, SingleOfWord, SingleOfInt       float32
	LongOfFloat, Product, Shifted, ShiftedBy7, LongOfSingle         int64
	IntOfSingle                                                     int32
	Low, Orders, WordOrders                                         uint32
	Smaller, Larger                                                 float64
	SmallerSingle, LargerSingle                                     float32
	Floor, Ceil, Trunc, Even, Root, Absolute, Opposite, Signed, Fma float64
}

// compute computes all fields; x is where conversions to integers begin.
func (r *inLanes) compute(n Wide) {
	a, b, x, y := n.A, n.B, n.X, n.Y
	u, v, xs, ys := uint64(a), uint64(b), float32(x), float32(y)
	r.FloatOfLong, r.FloatOfUnsigned, r.FloatOfWord, r.FloatOfInt = float64(a), float64(u), float64(uint32(a)), float64(int32(a))
	r.SingleOfLong, r.SingleOfUnsigned, r.SingleOfWord, r.SingleOfInt = float32(a), float32(u), float32(uint32(a)), float32(int32(a))
	r.LongOfFloat, r.LongOfSingle, r.IntOfSingle = int64(x), int64(float64(xs)), int32(ys)
	r.Product, r.Shifted, r.ShiftedBy7, r.Low = a*b, a>>(v&63), a>>7, uint32(a)
	r.Orders = orders(a < b, a <= b, a == b) | orders(u < v, u <= v, a != b)<<3
	r.WordOrders = orders(int32(a) < int32(b), int32(a) <= int32(b), int32(a) == int32(b)) | orders(uint32(a) < uint32(b), uint32(a) <= uint32(b), int32(a) != int32(b))<<3
	r.Smaller, r.Larger, r.SmallerSingle, r.LargerSingle = min(x, y), max(x, y), min(xs, ys), max(xs, ys)
	r.Floor, r.Ceil, r.Trunc, r.Even = math.Floor(x), math.Ceil(x), math.Trunc(x), math.RoundToEven(x)
	r.Root, r.Absolute, r.Opposite, r.Signed, r.Fma = math.Sqrt(x), math.Abs(x), -x, math.Copysign(x, y), math.FMA(x, y, x)
}

// orders returns a bit for each condition.
func orders(a, b, c bool) (bits uint32) {
	if a {
		bits |= 1
	}
	if b {
		bits |= 2
	}
	if c {
		bits |= 4
	}
	return bits
}

func inLanesOf(n Wide) (r inLanes) {
	r.compute(n)
	return r
}

//gpu:kernel
func computesInLanes(t gpu.Thread, in []Wide, out []inLanes) {
	if i := t.GlobalX(); i < len(in) && i < len(out) {
		out[i].compute(in[i])
	}
}

// wides are numbers at the ends of types, and those that floats of 32 bits have no room for, with floats that fit integers.
func wides() (list []Wide) {
	floats := []float64{0, math.Copysign(0, -1), 0.5, -0.5, 1.5, -2.5, 1e9, -1e9, 1<<31 - 128, -1 << 31, 1<<24 + 1, -7.25}
	longs := append(edges[int64](), 1<<53+1, -1<<53-1, 1<<53-1, 1<<24+1, 1<<25+1<<1, 1<<62+1<<38, 1<<62+1<<38+1, -1<<62-1<<38-1, math.MaxUint32, 1<<40+1<<16, 1<<40+1<<16+1)
	for i, a := range longs {
		for k, b := range longs {
			list = append(list, Wide{a, b, floats[(i+k)%len(floats)], floats[(i*k+k)%len(floats)]})
		}
	}
	return list
}

// integersInLanes has conversions of floats to integers of other sizes than the floats'.
type integersInLanes struct {
	Int8, Int8OfSingle     int8
	Uint8, Uint8OfSingle   uint8
	Int16, Int16OfSingle   int16
	Uint16, Uint16OfSingle uint16
	Int32                  int32
	Uint32, Uint32OfSingle uint32
	Int64OfSingle          int64
}

func integersInLanesOf(x float64) integersInLanes {
	s := float32(x)
	return integersInLanes{
		Int8: int8(x), Int8OfSingle: int8(s), Uint8: uint8(x), Uint8OfSingle: uint8(s),
		Int16: int16(x), Int16OfSingle: int16(s), Uint16: uint16(x), Uint16OfSingle: uint16(s),
		Int32: int32(x), Uint32: uint32(x), Uint32OfSingle: uint32(s), Int64OfSingle: int64(s),
	}
}

//gpu:kernel
func convertsInLanes(t gpu.Thread, in []float64, out []integersInLanes) {
	if i := t.GlobalX(); i < len(in) && i < len(out) {
		out[i] = integersInLanesOf(in[i])
	}
}
