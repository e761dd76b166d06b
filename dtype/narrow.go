package dtype

import "math"

// The functions of this file use only integer arithmetic and no tables, so that kernels can call
// them on hardware without instructions for these conversions.

// narrow32 returns the magnitude of x in the format with man bits of fraction whose smallest
// positive normal number is 1<<emin. The result consists of the exponent and the fraction, is
// rounded to nearest even, and continues past the largest number of the format on overflow. The
// magnitude of a NaN is arbitrary.
func narrow32(x float32, man, emin int) uint32 {
	b := math.Float32bits(x)
	field := int(b >> 23 & 0xff)
	exp, frac := max(field, 1)-127, b&(1<<23-1)
	if field > 0 {
		frac |= 1 << 23
	}
	// The addition carries the leading one of a normal number into the exponent.
	drop := uint(23 - man + max(emin-exp, 0))
	return uint32(max(exp-emin, 0))<<uint(man) + nearest(frac, min(drop, 31))
}

// narrow64 is like narrow32 for a float64.
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

// nearest returns x / 1<<drop, rounded to nearest even. drop is at least 1.
func nearest[T uint32 | uint64](x T, drop uint) T {
	q, rest, half := x>>drop, x&(1<<drop-1), T(1)<<(drop-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return q
}

// widen returns the finite number with the given magnitude in the format with man bits of fraction
// and smallest positive normal number 1<<emin. A float32 represents every number of all formats.
func widen(magnitude uint32, man, emin int) float32 {
	exp, frac := int(magnitude>>uint(man)), magnitude&(1<<uint(man)-1)
	if exp > 0 {
		return math.Float32frombits(uint32(exp-1+emin+127)<<23 | frac<<uint(23-man))
	}
	// The value of the last bit, 1<<(emin-man), is a normal float32 in all formats with a smaller
	// exponent range than float32.
	return float32(frac) * math.Float32frombits(uint32(emin-man+127)<<23)
}
