package math32

import "math"

// FMA returns x*y + z, rounded only once. On a GPU, FMA is a single instruction.
func FMA(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z) // the product is exact
	s := p + c
	u := math.Float64bits(s)
	e := c - (s - p) + (p - (s - c))
	if u<<35 != 1<<63 && u<<1 >= 0x381<<53 || e == 0 { // neither a midpoint nor subnormal, or exact
		return float32(s)
	}
	// Rounding the sum to odd makes the second rounding correct (Boldo and Melquiond, "Emulation of
	// FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
	return float32(math.Float64frombits(u - (math.Float64bits(e)^u)>>63 | 1))
}

// fma is like FMA for results that are zero or at least 0x1p-126 in magnitude. For these, the
// second rounding matters only if the first result is the midpoint between two float32 values. fma
// is small enough to be inlined.
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
