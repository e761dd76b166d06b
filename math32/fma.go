package math32

import "math"

// FMA returns x*y + z, rounded once. On a GPU it is one instruction.
func FMA(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z) // the product is exact
	s := p + c
	u := math.Float64bits(s)
	e := c - (s - p) + (p - (s - c))
	if u<<35 != 1<<63 && u<<1 >= 0x381<<53 || e == 0 { // not in the middle, nor subnormal; or exact
		return float32(s)
	}
	// Rounded to odd, the sum can be rounded again (Boldo and Melquiond, "Emulation of FMA and
	// correctly rounded sums: proved algorithms using rounding to odd", 2008).
	return float32(math.Float64frombits(u - (math.Float64bits(e)^u)>>63 | 1))
}

// fma is FMA for results that are zero or not below 0x1p-126, where it matters whether the sum is rounded twice
// only if the first time ends in the middle between two float32. It is small enough to be inlined.
func fma(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	if math.Float64bits(s)<<35 == 1<<63 {
		if e := s * (c - (s - p) + (p - (s - c))); e > 0 {
			s *= 1 + 0x1p-50
		} else if e < 0 {
			s *= 1 - 0x1p-50
		}
	}
	return float32(s)
}
