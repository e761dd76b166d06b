package math32

import (
	"math"
	"math/bits"
)

// Mod returns the remainder of x / y, with the sign of x. The result is exact.
func Mod(x, y float32) float32 {
	if y == 0 || x != x || y != y || IsInf(x, 0) {
		return NaN()
	}
	a, b := Abs(x), Abs(y)
	if a < b {
		return x
	}
	m, e := integer(a)
	n, f := integer(b)
	m %= n
	for e > f { // a step of 8 bits fits beside the 24 bits of m
		step := min(e-f, 8)
		m = m << uint32(step) % n
		e -= step
	}
	return Copysign(assembled(m, e), x)
}

// integer returns m and e with x = m * 2**e for positive finite x.
func integer(x float32) (m uint32, e int32) {
	b := math.Float32bits(x)
	if e := int32(b >> 23); e > 0 {
		return b&(1<<23-1) | 1<<23, e - 150
	}
	return b, -149
}

// assembled returns m * 2**e, which must be representable as a float32. e is at least -149.
func assembled(m uint32, e int32) float32 {
	if m == 0 {
		return 0
	}
	shift := min(int32(bits.LeadingZeros32(m))-8, e+149)
	m <<= uint32(shift)
	e -= shift
	if m < 1<<23 {
		return math.Float32frombits(m)
	}
	return math.Float32frombits(uint32(e+150)<<23 | m&(1<<23-1))
}
