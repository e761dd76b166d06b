package math32

import "math"

const (
	// pi/2 as a sum of three parts of the same sign, which preserves a negative zero.
	quarterA = 0x1.921fb4p+0
	quarterB = 0x1.4442dp-24
	quarterC = 0x1.846988p-48
)

// reduce returns the remainder of x divided by pi/2, between -pi/4 and pi/4, and the lowest bits of
// the quotient.
func reduce(x float32) (r float32, quarters uint32) {
	if !(Abs(x) < 1<<16) {
		return reduceLarge(x)
	}
	t := fma(x, 0x1.45f306p-1, shifter)
	k := t - shifter
	return fma(k, -quarterC, fma(k, -quarterB, fma(k, -quarterA, x))), math.Float32bits(t)
}

// twoOverPi is 32 zero bits followed by the fractional bits of 2/pi.
var twoOverPi = [...]uint32{0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041}

// reduceLarge is like reduce for |x| >= 1<<16. It multiplies the significand by 96 bits of 2/pi,
// omitting the higher bits, which contribute whole turns, and the lower bits, which do not affect
// the result (Payne and Hanek, "Radian reduction for trigonometric functions", 1983).
func reduceLarge(x float32) (r float32, quarters uint32) {
	if !(Abs(x) <= math.MaxFloat32) {
		return x - x, 0
	}
	b := math.Float32bits(x)
	skip := b>>23&0xff - 128 // the number of bits of the table to skip
	m := uint64(b<<8 | 1<<31)
	i, n := skip>>5&3, skip&31
	low := m * uint64(funnel(twoOverPi[i+2], twoOverPi[i+3], n))
	middle := m*uint64(funnel(twoOverPi[i+1], twoOverPi[i+2], n)) + low>>32
	high := uint32(m)*funnel(twoOverPi[i], twoOverPi[i+1], n) + uint32(middle>>32)
	// The product in quarter turns: two integer bits, then the fraction.
	f := int64(uint64(high)<<34 | uint64(uint32(middle))<<2)
	quarters = high>>30 + uint32(uint64(f)>>63)
	r = float32(float64(f) * (math.Pi / 2 * 0x1p-64))
	if b>>31 != 0 {
		return -r, -quarters
	}
	return r, quarters
}

// funnel returns the upper half of the concatenation of high and low, shifted left by n < 32.
func funnel(high, low, n uint32) uint32 { return uint32((uint64(high)<<32 | uint64(low)) << n >> 32) }

// flip returns x with its sign flipped if the highest bit of by is set.
func flip(x float32, by uint32) float32 {
	return math.Float32frombits(math.Float32bits(x) ^ by&(1<<31))
}
