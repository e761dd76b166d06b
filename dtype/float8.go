package dtype

import (
	"fmt"
	"math"
)

// Both formats are those of the OCP 8-bit Floating Point Specification (OFP8, revision 1.0).
// Conversions to them saturate, as the specification allows and NVIDIA's cvt.rn.satfinite
// does: what is too large, infinities too, becomes the largest number of its sign.

// F8E4M3 is an 8-bit float as its bits: 1 of sign, 4 of exponent, 3 of fraction. Its largest
// number is 448, its smallest normal one 1<<-6. It has no infinities, and of each sign one NaN,
// with all bits set.
type F8E4M3 uint8

// Float32 returns h, exactly. A NaN becomes a NaN.
func (h F8E4M3) Float32() float32 {
	magnitude := uint32(h & 0x7f)
	f := widen(magnitude, 3, -6)
	if magnitude == 0x7f {
		f = math.Float32frombits(0x7fffffff)
	}
	return signed(f, uint32(h>>7))
}

// Float64 returns h, exactly.
func (h F8E4M3) Float64() float64 { return float64(h.Float32()) }

// F8E4M3From32 returns x rounded to nearest even and saturated; every NaN becomes 0x7f.
func F8E4M3From32(x float32) F8E4M3 {
	if x != x {
		return 0x7f
	}
	return F8E4M3(math.Float32bits(x)>>24&0x80 | min(narrow32(x, 3, -6), 0x7e))
}

// F8E4M3From64 is F8E4M3From32 of a float64, in one rounding.
func F8E4M3From64(x float64) F8E4M3 {
	if x != x {
		return 0x7f
	}
	return F8E4M3(uint32(math.Float64bits(x)>>56&0x80) | min(narrow64(x, 3, -6), 0x7e))
}

// IsNaN reports whether h is not a number.
func (h F8E4M3) IsNaN() bool { return h&0x7f == 0x7f }

// String returns the shortest decimal that F8E4M3From64 takes to h.
func (h F8E4M3) String() string {
	return shortest(h.Float64(), func(x float64) bool { return F8E4M3From64(x) == h })
}

// Format prints h as fmt prints floats. Without a precision, %v and %g print h.String().
func (h F8E4M3) Format(s fmt.State, verb rune) { format(s, verb, h.Float64(), h.String) }

// F8E5M2 is an 8-bit float as its bits: 1 of sign, 5 of exponent, 2 of fraction, laid out as
// the upper half of an F16. Its largest number is 57344, its smallest normal one 1<<-14.
type F8E5M2 uint8

// Float32 returns h, exactly. A NaN becomes a NaN.
func (h F8E5M2) Float32() float32 { return F16(uint16(h) << 8).Float32() }

// Float64 returns h, exactly.
func (h F8E5M2) Float64() float64 { return float64(h.Float32()) }

// F8E5M2From32 returns x rounded to nearest even and saturated; every NaN becomes 0x7f.
func F8E5M2From32(x float32) F8E5M2 {
	if x != x {
		return 0x7f
	}
	return F8E5M2(math.Float32bits(x)>>24&0x80 | min(narrow32(x, 2, -14), 0x7b))
}

// F8E5M2From64 is F8E5M2From32 of a float64, in one rounding.
func F8E5M2From64(x float64) F8E5M2 {
	if x != x {
		return 0x7f
	}
	return F8E5M2(uint32(math.Float64bits(x)>>56&0x80) | min(narrow64(x, 2, -14), 0x7b))
}

// IsNaN reports whether h is not a number.
func (h F8E5M2) IsNaN() bool { return h&0x7f > 0x7c }

// IsInf reports whether h is an infinity: with a positive sign only a positive one, with a
// negative sign only a negative one, with 0 either. No conversion yields one.
func (h F8E5M2) IsInf(sign int) bool { return sign >= 0 && h == 0x7c || sign <= 0 && h == 0xfc }

// String returns the shortest decimal that F8E5M2From64 takes to h.
func (h F8E5M2) String() string {
	return shortest(h.Float64(), func(x float64) bool { return h.IsInf(0) || F8E5M2From64(x) == h })
}

// Format prints h as fmt prints floats. Without a precision, %v and %g print h.String().
func (h F8E5M2) Format(s fmt.State, verb rune) { format(s, verb, h.Float64(), h.String) }
