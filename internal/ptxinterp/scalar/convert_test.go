package scalar_test

import (
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

func f32(f float32) uint64 { return uint64(math.Float32bits(f)) }

func f64(f float64) uint64 { return math.Float64bits(f) }

// conversion is a cvt and its result.
type conversion struct {
	to, from ptx.Type
	c        scalar.Conversion
	a, want  uint64
}

// The modifiers of the tables below.
var (
	plain, sat = scalar.Conversion{}, scalar.Conversion{Rounding: scalar.Rounding{Clamp: true}}
	trunc      = integral(scalar.Zero)
)

func mode(m scalar.Mode) scalar.Conversion {
	return scalar.Conversion{Rounding: scalar.Rounding{Mode: m}}
}

func integral(m scalar.Mode) scalar.Conversion {
	return scalar.Conversion{Rounding: scalar.Rounding{Mode: m}, Integral: true}
}

func minus(n uint64) uint64 { return -n }

func checkConversions(t *testing.T, cases []conversion) {
	t.Helper()
	for _, c := range cases {
		f, ok := scalar.Convert(c.to, c.from, c.c)
		if !ok {
			t.Errorf("no cvt%v%v", c.to, c.from)
			continue
		}
		if got := f(c.a); got != c.want {
			t.Errorf("cvt%v%v%+v(%#x) = %#x, want %#x", c.to, c.from, c.c, c.a, got, c.want)
		}
	}
}

func TestConvertToInt(t *testing.T) {
	checkConversions(t, []conversion{
		// Integers: truncated, extended by the sign of the type they come from.
		{ptx.U8, ptx.U32, plain, 0x1ff, 0xff},
		{ptx.S8, ptx.U32, plain, 0x80, minus(128)},
		{ptx.S32, ptx.S8, plain, 0xff, minus(1)},
		{ptx.U32, ptx.S8, plain, 0xff, 0xffffffff},
		{ptx.U32, ptx.U8, plain, 0xff, 0xff},
		{ptx.U64, ptx.S32, plain, 0xffffffff, 1<<64 - 1},
		{ptx.S64, ptx.U32, plain, 0xffffffff, 0xffffffff},
		{ptx.U8, ptx.S32, sat, minus(5) & 0xffffffff, 0},
		{ptx.U8, ptx.S32, sat, 300, 255},
		{ptx.S8, ptx.S32, sat, minus(300) & 0xffffffff, minus(128)},
		{ptx.S32, ptx.U32, sat, 0xffffffff, 0x7fffffff},
		{ptx.U32, ptx.S32, sat, 0xffffffff, 0},

		// Floats to integers: clamped; NaN is 0 or the top bit.
		{ptx.S32, ptx.F32, trunc, f32(-1.9), minus(1)},
		{ptx.S32, ptx.F32, integral(scalar.Nearest), f32(2.5), 2},
		{ptx.S32, ptx.F32, integral(scalar.Nearest), f32(3.5), 4},
		{ptx.S32, ptx.F32, integral(scalar.Down), f32(-1.1), minus(2)},
		{ptx.S32, ptx.F32, integral(scalar.Up), f32(1.1), 2},
		{ptx.S32, ptx.F32, trunc, f32(1e10), 0x7fffffff},
		{ptx.S32, ptx.F32, trunc, f32(-1e10), minus(0x80000000)},
		{ptx.U32, ptx.F32, trunc, f32(-3), 0},
		{ptx.U32, ptx.F32, trunc, f32(3e9), 3000000000},
		{ptx.U8, ptx.F32, trunc, f32(300), 255},
		{ptx.S8, ptx.F32, trunc, f32(-300), minus(128)},
		{ptx.U64, ptx.F32, trunc, inf32, 1<<64 - 1},
		{ptx.S64, ptx.F64, trunc, f64(-1e300), 1 << 63},
		{ptx.S64, ptx.F64, trunc, f64(1e300), 1<<63 - 1},
		{ptx.U64, ptx.F64, trunc, f64(1.5e19), 15000000000000000000},
		{ptx.S32, ptx.F32, trunc, nan, 0},
		{ptx.U8, ptx.F32, trunc, nan, 0},
		{ptx.S64, ptx.F32, trunc, nan, 1 << 63},
		{ptx.U64, ptx.F32, trunc, nan, 1 << 63},
		{ptx.S32, ptx.F64, trunc, f64(math.NaN()), minus(0x80000000)},
		{ptx.U32, ptx.F64, trunc, f64(math.NaN()), 0x80000000},
	})
	if _, ok := scalar.Convert(ptx.B32, ptx.F32, plain); ok {
		t.Error("cvt to bits exists")
	}
}

func TestConvertToFloat(t *testing.T) {
	checkConversions(t, []conversion{
		// Integers to floats: one rounding.
		{ptx.F32, ptx.S32, plain, minus(3) & 0xffffffff, f32(-3)},
		{ptx.F32, ptx.U32, plain, 16777217, f32(16777216)},
		{ptx.F32, ptx.U32, mode(scalar.Up), 16777217, f32(16777218)},
		{ptx.F32, ptx.S32, mode(scalar.Up), minus(16777217) & 0xffffffff, f32(-16777216)},
		{ptx.F32, ptx.S64, mode(scalar.Down), minus(16777217), f32(-16777218)},
		{ptx.F32, ptx.U64, plain, 1<<64 - 1, f32(0x1p64)},
		{ptx.F32, ptx.U64, mode(scalar.Zero), 1<<64 - 1, f32(0x1.fffffep63)},
		{ptx.F32, ptx.U64, plain, 1<<63 + 1<<39 + 1, f32(0x1.000002p63)}, // just above a tie
		{ptx.F64, ptx.U64, plain, 1<<63 + 1, f64(0x1p63)},
		{ptx.F64, ptx.U64, mode(scalar.Up), 1<<63 + 1, f64(0x1.0000000000001p63)},
		{ptx.F64, ptx.S8, plain, 0xff, f64(-1)},
		{ptx.F32, ptx.U8, sat, 7, f32(1)},

		// Floats to floats.
		{ptx.F64, ptx.F32, plain, f32(0.1), f64(float64(float32(0.1)))},
		{ptx.F32, ptx.F64, plain, f64(0.1), f32(0.1)},
		{ptx.F32, ptx.F64, mode(scalar.Zero), f64(0.1), 0x3dcccccc},
		{ptx.F32, ptx.F64, plain, f64(1e300), inf32},
		{ptx.F32, ptx.F64, mode(scalar.Down), f64(1e300), max32},
		{ptx.F32, ptx.F64, mode(scalar.Up), f64(1e-300), tiny32},
		{ptx.F32, ptx.F64, plain, f64(math.NaN()), nan},
		{ptx.F32, ptx.F32, integral(scalar.Nearest), f32(-0.5), neg0},
		{ptx.F32, ptx.F32, integral(scalar.Up), f32(-0.5), neg0},
		{ptx.F64, ptx.F64, integral(scalar.Down), f64(-0.5), f64(-1)},
		{ptx.F32, ptx.F32, sat, nan, 0},
		{ptx.F32, ptx.F32, sat, f32(7), f32(1)},
		{ptx.F32, ptx.F32, scalar.Conversion{Rounding: scalar.Rounding{Flush: true}}, neg0 | tiny32, neg0},
	})
}

// TestDirectedProducts demands that a product rounded down and up is the nearest number on
// either side of the exact one, which a product of singles in double precision is.
func TestDirectedProducts(t *testing.T) {
	values := []float32{0, 1, -1, 0.1, -0.3, 1e30, -1e-30, 3.5, 0x1p-149, -0x1p-140, 16777216, math.MaxFloat32}
	down := must(scalar.FloatMul(ptx.F32, scalar.Rounding{Mode: scalar.Down}))
	up := must(scalar.FloatMul(ptx.F32, scalar.Rounding{Mode: scalar.Up}))
	for _, a := range values {
		for _, b := range values {
			x := float64(a) * float64(b)
			lo, hi := math.Float32frombits(uint32(down(f32(a), f32(b)))), math.Float32frombits(uint32(up(f32(a), f32(b))))
			if float64(lo) > x || float64(hi) < x || lo != hi && math.Nextafter32(lo, float32(math.Inf(1))) != hi {
				t.Errorf("%v * %v is rounded down to %v and up to %v", a, b, lo, hi)
			}
		}
	}
}
