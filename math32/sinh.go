package math32

// Sinh returns the hyperbolic sine of x. The error is at most 1.7 ULP.
func Sinh(x float32) float32 {
	a := Abs(x)
	if a < 1 {
		s := float32(a * a)
		p := fma(fma(fma(0x1.756c1ep-19, s, 0x1.a022bcp-13), s, 0x1.1110ep-7), s, 0x1.555556p-3)
		return Copysign(fma(p, float32(a*s), a), x)
	}
	grows, falls := halfExps(a)
	return Copysign(grows-falls, x)
}

// Cosh returns the hyperbolic cosine of x. The error is at most 1.4 ULP.
func Cosh(x float32) float32 {
	grows, falls := halfExps(Abs(x))
	return grows + falls
}

// halfExps returns e**x / 2, which is finite for slightly larger x than e**x, and e**-x / 2, or 0
// where that is negligible. x is not negative.
func halfExps(x float32) (grows, falls float32) {
	p, n := expParts(x)
	grows = scaled(p, n-1)
	falls = float32(0.25 * recip(grows))
	if x > 20 {
		falls = 0
	}
	if x > 104 {
		grows = Inf(1)
	}
	return grows, falls
}

// Tanh returns the hyperbolic tangent of x. The error is at most 1.5 ULP.
func Tanh(x float32) float32 {
	a := Abs(x)
	if a < 0.6 {
		s := float32(a * a)
		p := fma(fma(fma(fma(-0x1.828776p-8, s, 0x1.54c3c2p-6), s, -0x1.b89abap-5), s, 0x1.1109bep-3), s, -0x1.55553ep-2)
		return Copysign(fma(p, float32(a*s), a), x)
	}
	if a > 10 { // the result is 1
		a = 10
	}
	p, n := expParts(a + a)
	return Copysign(fma(-2, recip(fma(p, power(n), 1)), 1), x)
}

// Asinh returns the inverse hyperbolic sine of x. The error is at most 1.8 ULP.
func Asinh(x float32) float32 {
	a := Abs(x)
	if a < 0.5 {
		s := float32(a * a)
		p := fma(fma(fma(fma(-0x1.b177dcp-7, s, 0x1.cd6e44p-6), s, -0x1.6b969p-5), s, 0x1.3324f6p-4), s, -0x1.555536p-3)
		return Copysign(fma(p, float32(a*s), a), x)
	}
	if a > 0x1p30 {
		return Copysign(logOfTwice(a), x)
	}
	s := float32(a * a)
	return Copysign(log1pPositive(fma(s, recip(1+root(s+1)), a)), x)
}

// Acosh returns the inverse hyperbolic cosine of x. The error is at most 2.1 ULP.
func Acosh(x float32) float32 {
	switch {
	case x > 0x1p30:
		return logOfTwice(x)
	case x > 1:
		t := x - 1
		return log1pPositive(t + root(fma(t, t, t+t)))
	case x == 1:
		return 0
	}
	return NaN()
}

// Atanh returns the inverse hyperbolic tangent of x. The error is at most 1.4 ULP.
func Atanh(x float32) float32 {
	a := Abs(x)
	if a < 0.5 {
		s := float32(a * a)
		p := fma(fma(fma(0x1.693922p-3, s, 0x1.a6be3p-5), s, 0x1.e3ffcap-4), s, 0x1.234d9ap-3)
		p = fma(fma(p, s, 0x1.99a676p-3), s, 0x1.55554p-2)
		return Copysign(fma(p, float32(a*s), a), x)
	}
	r := float32(0.5 * log1pPositive(float32((a+a)*recip(1-a))))
	if a == 1 {
		r = Inf(1)
	}
	if a > 1 {
		r = NaN()
	}
	return Copysign(r, x)
}
