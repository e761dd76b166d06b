package math32

// Sin returns the sine of the radian argument x. The error is at most 1.6 ULP.
func Sin(x float32) float32 {
	r, quarters := reduce(x)
	return sine(r, quarters)
}

// Cos returns the cosine of the radian argument x. The error is at most 1.6 ULP.
func Cos(x float32) float32 {
	r, quarters := reduce(x)
	return sine(r, quarters+1)
}

// Sincos returns Sin(x) and Cos(x). It takes fewer operations than a call of Sin and a call of Cos,
// because it reduces x only once.
func Sincos(x float32) (sin, cos float32) {
	r, quarters := reduce(x)
	s := float32(r * r)
	sin = fma(fma(fma(sin2, s, sin1), s, sin0), fma(r, s, 0), r)
	cos = fma(fma(fma(fma(cos3, s, cos2), s, cos1), s, cos0), s, 1)
	if quarters&1 != 0 {
		sin, cos = cos, sin
	}
	return flip(sin, quarters<<30), flip(cos, (quarters+1)<<30)
}

// The coefficients of the series of sine and cosine, in powers of the square of the argument.
const (
	sin0, sin1, sin2       float32 = -0x1.555546p-3, 0x1.110776p-7, -0x1.9953p-13
	cos0, cos1, cos2, cos3 float32 = -0.5, 0x1.55554ap-5, -0x1.6c0c2ap-10, 0x1.99e904p-16
)

// sine returns the sine of r plus the given number of quarter turns, for r from -pi/4 to pi/4. An
// odd number of quarter turns gives a cosine; the two series share their last steps.
func sine(r float32, quarters uint32) float32 {
	s := float32(r * r)
	first, p, c1, c0 := r, sin2, sin1, sin0
	if quarters&1 != 0 {
		first, p, c1, c0 = 1, fma(cos3, s, cos2), cos1, cos0
	}
	p = fma(fma(p, s, c1), s, c0)
	// Adding 0 preserves the sign of a negative zero.
	return flip(fma(p, fma(first, s, 0), first), quarters<<30)
}

// Tan returns the tangent of the radian argument x. The error is at most 3.1 ULP.
func Tan(x float32) float32 {
	r, quarters := reduce(x)
	s := float32(r * r)
	p := fma(fma(fma(0x1.1ec6b6p-8, s, 0x1.82868ap-14), s, 0x1.62f0d2p-7), s, 0x1.5cba46p-6)
	p = fma(fma(fma(p, s, 0x1.bada4ap-5), s, 0x1.110d9cp-3), s, 0x1.55556p-2)
	t := fma(p, float32(r*s), r)
	if quarters&1 != 0 {
		return -recip(t)
	}
	return t
}
