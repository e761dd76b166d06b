package dtype

import "math"

// Every function here is integer arithmetic without tables, so that kernels can call it where
// the hardware has no instruction for it.

// narrow32 returns the magnitude of x in a format with man bits of fraction whose smallest
// normal number is 1<<emin: exponent and fraction as one number, rounded to nearest even,
// that goes on counting where the format overflows. The magnitude of a NaN is arbitrary.
func narrow32(x float32, man, emin int) uint32 {
	b := math.Float32bits(x)
	field := int(b >> 23 & 0xff)
	exp, frac := max(field, 1)-127, b&(1<<23-1)
	if field > 0 {
		frac |= 1 << 23
	}
	// A normal number's leading one is added to the exponent in front of it.
	drop := uint(23 - man + max(emin-exp, 0))
	return uint32(max(exp-emin, 0))<<uint(man) + nearest(frac, min(drop, 31))
}

// narrow64 is narrow32 of a float64.
func narrow64(x float64, man, emin int) uint32 {
	b := math.Float64bits(x)
	field := int(b >> 52 & 0x7ff)
	exp, frac := max(field, 1)-1023, b&(1<<52-1)
	if field > 0 {
		frac |= 1 << 52
	}
	drop := uint(52 - man + max(emin-exp, 0))
	return uint32(max(exp-emin, 0))<<uint(man) + uint32(nearest(frac, min(drop, 63)))
}

// nearest returns x / 1<<drop rounded to nearest even; drop is at least 1.
func nearest[T uint32 | uint64](x T, drop uint) T {
	q, rest, half := x>>drop, x&(1<<drop-1), T(1)<<(drop-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return q
}

// widen returns the finite number whose magnitude in a format of man bits of fraction and
// smallest normal number 1<<emin is the given one. All formats' numbers are float32s.
func widen(magnitude uint32, man, emin int) float32 {
	exp, frac := int(magnitude>>uint(man)), magnitude&(1<<uint(man)-1)
	if exp > 0 {
		return math.Float32frombits(uint32(exp-1+emin+127)<<23 | frac<<uint(23-man))
	}
	// The place of the last bit, 1<<(emin-man), is a normal float32 in formats of exponents
	// smaller than float32's.
	return float32(frac) * math.Float32frombits(uint32(emin-man+127)<<23)
}
