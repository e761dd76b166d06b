package halves

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// converted has a conversion a field: of the lower bits of an int, and of the float32 and the float64
// that its bits are spread over.
type converted struct {
	F16ToFloat32, BF16ToFloat32         float32
	Float32ToF16                        dtype.F16
	Float32ToBF16, Float32ToBF16Nearest dtype.BF16
	Float32ToBF16Halfway                dtype.BF16
	F16Doubled                          dtype.F16
}

// spread makes of the numbers below 1<<16 floats of all signs and exponents, many of them
// halfway between two numbers of 16 bits.
func spread(i uint32) uint32 { return i<<16 | i&1<<15 | i&2<<11 | i&4>>2 }

func convertAll(i uint32) (c converted) {
	c.F16ToFloat32 = dtype.F16(i).Float32()
	c.BF16ToFloat32 = dtype.BF16(i).Float32()
	x := math.Float32frombits(spread(i))
	c.Float32ToF16 = dtype.F16From32(x)
	c.Float32ToBF16 = dtype.BF16From32(x)
	c.Float32ToBF16Nearest = dtype.BF16From32(math.Float32frombits(i<<16 + 0x7fff))
	c.Float32ToBF16Halfway = dtype.BF16From32(math.Float32frombits(i<<16 + 0x8000))
	c.F16Doubled = dtype.F16From32(2 * dtype.F16(i).Float32())
	return c
}

//gpu:kernel
func conversions(t gpu.Thread, in []uint32, out []converted) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = convertAll(in[i])
	}
}

// slow has the conversions that are computed with integers.
type slow struct {
	E4M3ToFloat32, E5M2ToFloat32 float32
	F16ToFloat64, BF16ToFloat64  float64
	Float32ToE4M3                dtype.F8E4M3
	Float32ToE5M2                dtype.F8E5M2
	Float64ToF16                 dtype.F16
	Float64ToBF16                dtype.BF16
	Float64ToE4M3                dtype.F8E4M3
	Float64ToE5M2                dtype.F8E5M2
	IsNaN, IsInf                 bool
}

func convertSlowly(i uint32) (s slow) {
	s.E4M3ToFloat32, s.E5M2ToFloat32 = dtype.F8E4M3(i).Float32(), dtype.F8E5M2(i).Float32()
	s.F16ToFloat64, s.BF16ToFloat64 = dtype.F16(i).Float64(), dtype.BF16(i).Float64()
	x := dtype.F16(i).Float32() + 0x1p-20 // near halfway between 8-bit numbers, and past their largest
	s.Float32ToE4M3, s.Float32ToE5M2 = dtype.F8E4M3From32(x), dtype.F8E5M2From32(x)
	d := math.Float64frombits(uint64(spread(i))<<32 | uint64(i&1))
	s.Float64ToF16, s.Float64ToBF16 = dtype.F16From64(d), dtype.BF16From64(d)
	s.Float64ToE4M3, s.Float64ToE5M2 = dtype.F8E4M3From64(float64(x)), dtype.F8E5M2From64(float64(x))
	s.IsNaN, s.IsInf = dtype.F16(i).IsNaN(), dtype.F16(i).IsInf(1)
	return s
}

//gpu:kernel
func slowConversions(t gpu.Thread, in []uint32, out []slow) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = convertSlowly(in[i])
	}
}

//gpu:kernel
func prints(t gpu.Thread, h []dtype.F16, b []dtype.BF16, e []dtype.F8E4M3, f []dtype.F8E5M2) {
	gpu.Printf(t, "%v %.2f %g %v %v\n", h[0], b[0], e[0], f[0], dtype.BF16(0x3fc0))
}
