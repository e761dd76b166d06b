package math32

// Erf returns the error function of x. The error is at most 1.1 ULP.
func Erf(x float32) float32 {
	a := Abs(x)
	if a < 0.921875 {
		s := float32(a * a)
		p := fma(fma(fma(-0x1.3a48e2p-11, s, 0x1.474a0ep-8), s, -0x1.b68e66p-6), s, 0x1.ce1ab4p-4)
		p = fma(fma(p, s, -0x1.8126e8p-2), s, 0x1.06eba6p-3)
		return Copysign(fma(a, p, a), x)
	}
	if a > 3.95 { // the result is 1
		a = 3.95
	}
	// The logarithm of Erfc is close to a polynomial.
	p := fma(fma(fma(0x1.4b5cap-18, a, -0x1.7e4f3p-15), a, -0x1.a037bcp-15), a, 0x1.80124ap-9)
	p = fma(fma(fma(fma(p, a, -0x1.737eaap-6), a, 0x1.af2806p-4), a, 0x1.4570acp-1), a, 0x1.074624p-3)
	p, n := expParts(-fma(p, a, a))
	return Copysign(fma(-p, power(n), 1), x)
}

// Erfc returns the complementary error function of x. The error is at most 4.2 ULP.
func Erfc(x float32) float32 {
	a := Abs(x)
	if a > 11 { // the result is 0
		a = 11
	}
	// A polynomial for Erfc(a) * e**(a*a) * (1+2*a), in a variable from -1 to 1 (Shepherd and
	// Laframboise, "Chebyshev approximation of (1+2x)exp(x^2)erfc x", 1981).
	inverse := recip(a + 2)
	q := float32((a - 2) * inverse)
	q = fma(inverse, fma(-q, a, fma(-2, q+1, a)), q) // corrects the quotient by the remainder
	p := fma(fma(fma(-0x1.a836d4p-12, q, -0x1.4486f8p-10), q, 0x1.587a3cp-10), q, 0x1.1b1f88p-7)
	p = fma(fma(fma(p, q, -0x1.080b3ep-7), q, -0x1.bc114ep-5), q, 0x1.4ffbdcp-3)
	p = fma(fma(fma(p, q, -0x1.54080ap-3), q, -0x1.7bf604p-4), q, 0x1.46e80ep+0)
	inverse = recip(fma(a, 2, 1))
	r := float32(p * inverse)
	r = fma(fma(float32(r*a), -2, p-r), inverse, r)
	s := float32(a * a)
	e, n := expParts(-s)
	rest := fma(-a, a, s) // the rounding error of s
	r = scaled(fma(r, e, float32(r*float32(e*rest))), n)
	if x < 0 {
		r = 2 - r
	}
	return r
}
