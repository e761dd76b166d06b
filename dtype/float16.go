package dtype

import (
	"fmt"
	"math"
)

// F16 is an IEEE 754 binary16 number, represented by its bits: 1 bit of sign, 5 of exponent, 10 of
// fraction. The largest number is 65504, and the smallest positive normal number is 2^-14.
//
// F16 has no arithmetic: convert to float32, compute, and convert back. The operator == compares
// the bits of two F16 values.
type F16 uint16

// Float32 returns h as a float32. The conversion is exact. A NaN becomes a NaN.
func (h F16) Float32() float32 {
	magnitude := uint32(h & 0x7fff)
	f := widen(magnitude, 10, -14)
	if magnitude >= 0x7c00 {
		f = math.Float32frombits(0x7f800000 | magnitude&0x3ff<<13)
	}
	return signed(f, uint32(h>>15))
}

// Float64 returns h as a float64. The conversion is exact.
func (h F16) Float64() float64 { return float64(h.Float32()) }

// F16From32 returns x rounded to nearest even. A value that is too large becomes an infinity. Every
// NaN becomes 0x7fff, as on NVIDIA's hardware.
func F16From32(x float32) F16 {
	if x != x {
		return 0x7fff
	}
	return F16(math.Float32bits(x)>>16&0x8000 | min(narrow32(x, 10, -14), 0x7c00))
}

// F16From64 is like F16From32 for a float64, which it rounds only once.
func F16From64(x float64) F16 {
	if x != x {
		return 0x7fff
	}
	return F16(uint32(math.Float64bits(x)>>48&0x8000) | min(narrow64(x, 10, -14), 0x7c00))
}

// IsNaN reports whether h is a NaN.
func (h F16) IsNaN() bool { return h&0x7fff > 0x7c00 }

// IsInf reports whether h is an infinity, according to sign. If sign > 0, IsInf reports whether h
// is positive infinity. If sign < 0, IsInf reports whether h is negative infinity. If sign == 0,
// IsInf reports whether h is either infinity.
func (h F16) IsInf(sign int) bool { return sign >= 0 && h == 0x7c00 || sign <= 0 && h == 0xfc00 }

// String returns the shortest decimal number that F16From64 converts to h.
func (h F16) String() string {
	return shortest(h.Float64(), func(x float64) bool { return F16From64(x) == h })
}

// Format implements fmt.Formatter. It formats h as fmt formats floats, except that %v and %g
// without a precision print h.String().
func (h F16) Format(s fmt.State, verb rune) { format(s, verb, h.Float64(), h.String) }

// signed returns f with the given sign bit.
func signed(f float32, sign uint32) float32 {
	return math.Float32frombits(math.Float32bits(f) | sign<<31)
}
