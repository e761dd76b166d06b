package math32

import "math"

// Atan returns the arctangent of x, in radians. The error is at most 1.4 ULP.
func Atan(x float32) float32 {
	a := Abs(x)
	b := a
	if a > 1 {
		b = recip(a)
	}
	if a > 0x1p100 {
		b = 0
	}
	r := arctangent(b)
	if a > 1 {
		r = fma(halfPiA, halfPiB, -r)
	}
	return Copysign(r, x)
}

// arctangent returns the arctangent of a, which is between 0 and 1.
func arctangent(a float32) float32 {
	s := float32(a * a)
	p := fma(fma(fma(fma(-0x1.d4984ap-10, s, 0x1.64c1cep-7), s, -0x1.fdfc1cp-6), s, 0x1.da5ed4p-5), s, -0x1.58155ep-4)
	p = fma(fma(fma(fma(p, s, 0x1.c08f64p-4), s, -0x1.2420b6p-3), s, 0x1.9991e6p-3), s, -0x1.55553ep-2)
	return fma(p, float32(s*a), a)
}

// Atan2 returns the angle of the point (x, y) in radians, between -pi and pi. The error is at most
// 2 ULP.
func Atan2(y, x float32) float32 {
	ax, ay := Abs(x), Abs(y)
	low, high := ay, ax
	if ay > ax {
		low, high = ax, ay
	}
	q := low / high
	if low == high { // both are zero or infinite, or the quotient is 1
		q = 1
		if low == 0 {
			q = 0
		}
	}
	r := arctangent(q)
	if ay > ax {
		r = fma(halfPiA, halfPiB, -r)
	}
	if math.Float32bits(x)>>31 != 0 {
		r = fma(halfPiA+halfPiA, halfPiB, -r)
	}
	if x != x || y != y {
		return NaN()
	}
	return Copysign(r, y)
}
