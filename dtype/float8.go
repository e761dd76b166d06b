package dtype

import (
	"fmt"
	"math"
)

// Both formats are defined by the OCP 8-bit Floating Point Specification (OFP8, revision 1.0).
// Conversions to them saturate, which the specification permits and NVIDIA's cvt.rn.satfinite does:
// a value that is too large, including an infinity, becomes the largest number of the same sign.

// F8E4M3 is an 8-bit floating-point number, represented by its bits: 1 bit of sign, 4 of exponent,
// 3 of fraction. The largest number is 448, and the smallest positive normal number is 2^-6. The
// format has no infinities. It has one NaN for each sign: in a NaN, all bits other than the sign
// are set.
type F8E4M3 uint8

// Float32 returns h as a float32. The conversion is exact. A NaN becomes a NaN.
func (h F8E4M3) Float32() float32 {
	magnitude := uint32(h & 0x7f)
	f := widen(magnitude, 3, -6)
	if magnitude == 0x7f {
		f = math.Float32frombits(0x7fffffff)
	}
	return signed(f, uint32(h>>7))
}

// Float64 returns h as a float64. The conversion is exact.
func (h F8E4M3) Float64() float64 { return float64(h.Float32()) }

// F8E4M3From32 returns x rounded to nearest even. A value that is too large becomes the largest
// number of the same sign. Every NaN becomes 0x7f.
func F8E4M3From32(x float32) F8E4M3 {
	if x != x {
		return 0x7f
	}
	return F8E4M3(math.Float32bits(x)>>24&0x80 | min(narrow32(x, 3, -6), 0x7e))
}

// F8E4M3From64 is like F8E4M3From32 for a float64, which it rounds only once.
func F8E4M3From64(x float64) F8E4M3 {
	if x != x {
		return 0x7f
	}
	return F8E4M3(uint32(math.Float64bits(x)>>56&0x80) | min(narrow64(x, 3, -6), 0x7e))
}

// IsNaN reports whether h is a NaN.
func (h F8E4M3) IsNaN() bool { return h&0x7f == 0x7f }

// String returns the shortest decimal number that F8E4M3From64 converts to h.
func (h F8E4M3) String() string {
	return shortest(h.Float64(), func(x float64) bool { return F8E4M3From64(x) == h })
}

// Format implements fmt.Formatter. It formats h as fmt formats floats, except that %v and %g
// without a precision print h.String().
func (h F8E4M3) Format(s fmt.State, verb rune) { format(s, verb, h.Float64(), h.String) }

// F8E5M2 is an 8-bit floating-point number, represented by its bits: 1 bit of sign, 5 of exponent,
// 2 of fraction, which form the upper half of an F16. The largest number is 57344, and the smallest
// positive normal number is 2^-14.
type F8E5M2 uint8

// Float32 returns h as a float32. The conversion is exact. A NaN becomes a NaN.
func (h F8E5M2) Float32() float32 { return F16(uint16(h) << 8).Float32() }

// Float64 returns h as a float64. The conversion is exact.
func (h F8E5M2) Float64() float64 { return float64(h.Float32()) }

// F8E5M2From32 returns x rounded to nearest even. A value that is too large, including an infinity,
// becomes the largest number of the same sign. Every NaN becomes 0x7f.
func F8E5M2From32(x float32) F8E5M2 {
	if x != x {
		return 0x7f
	}
	return F8E5M2(math.Float32bits(x)>>24&0x80 | min(narrow32(x, 2, -14), 0x7b))
}

// F8E5M2From64 is like F8E5M2From32 for a float64, which it rounds only once.
func F8E5M2From64(x float64) F8E5M2 {
	if x != x {
		return 0x7f
	}
	return F8E5M2(uint32(math.Float64bits(x)>>56&0x80) | min(narrow64(x, 2, -14), 0x7b))
}

// IsNaN reports whether h is a NaN.
func (h F8E5M2) IsNaN() bool { return h&0x7f > 0x7c }

// IsInf reports whether h is an infinity, according to sign. If sign > 0, IsInf reports whether h
// is positive infinity. If sign < 0, IsInf reports whether h is negative infinity. If sign == 0,
// IsInf reports whether h is either infinity. F8E5M2From32 and F8E5M2From64 never return an infinity.
func (h F8E5M2) IsInf(sign int) bool { return sign >= 0 && h == 0x7c || sign <= 0 && h == 0xfc }

// String returns the shortest decimal number that F8E5M2From64 converts to h.
func (h F8E5M2) String() string {
	return shortest(h.Float64(), func(x float64) bool { return h.IsInf(0) || F8E5M2From64(x) == h })
}

// Format implements fmt.Formatter. It formats h as fmt formats floats, except that %v and %g
// without a precision print h.String().
func (h F8E5M2) Format(s fmt.State, verb rune) { format(s, verb, h.Float64(), h.String) }
