package math32

import "math"

const (
	// pi/2 in three parts, of one sign, so that a negative zero stays one.
	quarterA = 0x1.921fb4p+0
	quarterB = 0x1.4442dp-24
	quarterC = 0x1.846988p-48
)

// reduce returns the rest of x divided by pi/2, which is from -pi/4 to pi/4, and the lowest bits of
// the quotient.
func reduce(x float32) (r float32, quarters uint32) {
	if !(Abs(x) < 1<<16) {
		return reduceLarge(x)
	}
	t := fma(x, 0x1.45f306p-1, shifter)
	k := t - shifter
	return fma(k, -quarterC, fma(k, -quarterB, fma(k, -quarterA, x))), math.Float32bits(t)
}

// twoOverPi has the bits of 2/pi behind its point, after 32 zeros.
var twoOverPi = [...]uint32{0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041}

// reduceLarge is reduce for what is not below 1<<16. It multiplies the significand with those 96 bits
// of 2/pi that do not stand for whole turns, nor for less than is needed (Payne and Hanek, "Radian
// reduction for trigonometric functions", 1983).
func reduceLarge(x float32) (r float32, quarters uint32) {
	if !(Abs(x) <= math.MaxFloat32) {
		return x - x, 0
	}
	b := math.Float32bits(x)
	skip := b>>23&0xff - 128 // bits of the table
	m := uint64(b<<8 | 1<<31)
	i, n := skip>>5&3, skip&31
	low := m * uint64(funnel(twoOverPi[i+2], twoOverPi[i+3], n))
	middle := m*uint64(funnel(twoOverPi[i+1], twoOverPi[i+2], n)) + low>>32
	high := uint32(m)*funnel(twoOverPi[i], twoOverPi[i+1], n) + uint32(middle>>32)
	// Quarters of a turn: two bits, then the fraction.
	f := int64(uint64(high)<<34 | uint64(uint32(middle))<<2)
	quarters = high>>30 + uint32(uint64(f)>>63)
	r = float32(float64(f) * (math.Pi / 2 * 0x1p-64))
	if b>>31 != 0 {
		return -r, -quarters
	}
	return r, quarters
}

// funnel returns the upper half of high and low, shifted to the left by n, which is below 32.
func funnel(high, low, n uint32) uint32 { return uint32((uint64(high)<<32 | uint64(low)) << n >> 32) }

// flip returns x with its sign changed where the highest bit of by is set.
func flip(x float32, by uint32) float32 {
	return math.Float32frombits(math.Float32bits(x) ^ by&(1<<31))
}
