package dtype

import (
	"fmt"
	"math"
)

// BF16 is a bfloat16 number as its bits: the upper half of a float32. It has float32's
// range and 8 bits of precision. It has no arithmetic, as F16 has none.
type BF16 uint16

// Float32 returns h, exactly, bit for bit also where h is a NaN.
func (h BF16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// Float64 returns h, exactly.
func (h BF16) Float64() float64 { return float64(h.Float32()) }

// BF16From32 returns x rounded to nearest even. What is too large becomes an infinity; every NaN
// becomes 0x7fff, as on NVIDIA's hardware.
func BF16From32(x float32) BF16 {
	if x != x {
		return 0x7fff
	}
	b := math.Float32bits(x)
	return BF16((b + 0x7fff + b>>16&1) >> 16)
}

// BF16From64 is BF16From32 of a float64, in one rounding.
func BF16From64(x float64) BF16 {
	if x != x {
		return 0x7fff
	}
	return BF16(uint32(math.Float64bits(x)>>48&0x8000) | min(narrow64(x, 7, -126), 0x7f80))
}

// IsNaN reports whether h is not a number.
func (h BF16) IsNaN() bool { return h&0x7fff > 0x7f80 }

// IsInf reports whether h is an infinity: with a positive sign only a positive one, with a
// negative sign only a negative one, with 0 either.
func (h BF16) IsInf(sign int) bool { return sign >= 0 && h == 0x7f80 || sign <= 0 && h == 0xff80 }

// String returns the shortest decimal that BF16From64 takes to h.
func (h BF16) String() string {
	return shortest(h.Float64(), func(x float64) bool { return BF16From64(x) == h })
}

// Format prints h as fmt prints floats. Without a precision, %v and %g print h.String().
func (h BF16) Format(s fmt.State, verb rune) { format(s, verb, h.Float64(), h.String) }
