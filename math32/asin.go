package math32

// Asin returns the arcsine of x, in radians. The error is at most 1.8 ULP.
func Asin(x float32) float32 {
	a := Abs(x)
	r := arcsine(a)
	if a > asinLimit {
		r = fma(-2, r, halfPi)
	}
	return Copysign(r, x)
}

// Acos returns the arccosine of x, in radians. The error is at most 1.1 ULP.
func Acos(x float32) float32 {
	a := Abs(x)
	r := arcsine(a)
	if a > asinLimit {
		r += r
		if x < 0 {
			r = fma(halfPiA+halfPiA, halfPiB, -r)
		}
		return r
	}
	return fma(halfPiA, halfPiB, -Copysign(r, x))
}

const (
	// Above asinLimit, the series with the square root has the smaller error.
	asinLimit = 0.5625

	halfPi = 0x1.921fb6p+0
	// The product halfPiA * halfPiB is closer to pi/2 than any float32.
	halfPiA = 0x1.cf1e06p-1
	halfPiB = 0x1.bc9192p+0
)

// arcsine returns the arcsine of a, or of sqrt((1-a)/2) if a is above asinLimit.
func arcsine(a float32) float32 {
	s := float32(a * a)
	if a > asinLimit {
		s = 0.5 - float32(0.5*a)
		a = root(s)
		if s == 0 {
			a = 0
		}
	}
	p := fma(fma(fma(0x1.84fbf4p-5, s, 0x1.b9e734p-8), s, 0x1.169d94p-5), s, 0x1.6a59a6p-5)
	p = fma(fma(p, s, 0x1.334932p-4), s, 0x1.555526p-3)
	return fma(p, float32(a*s), a)
}
