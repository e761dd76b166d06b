package math32

import "math"

// Log returns the natural logarithm of x. The error is at most 0.95 ULP.
func Log(x float32) float32 {
	m, k := split(x)
	f := m - 1
	return logarithm(x, fma(k, ln2Hi*0x1p-23, log1p(f)))
}

// Log2 returns the binary logarithm of x. The error is at most 1.1 ULP.
func Log2(x float32) float32 {
	m, k := split(x)
	f := m - 1
	p := fma(fma(fma(fma(-0x1.c68706p-4, f, 0x1.7f6d12p-3), f, -0x1.878f64p-3), f, 0x1.a2b5dap-3), f, -0x1.eaa98ap-3)
	p = fma(fma(fma(fma(p, f, 0x1.277fe2p-2), f, -0x1.715aeep-2), f, 0x1.ec7092p-2), f, -0x1.71547p-1)
	r := fma(f, 0x1.c551d8p-2, fma(float32(f*f), p, float32(f*0x1.4ae0cp-26))) // without the 1 in log2(e) = 1.4427
	k *= 0x1p-23
	s := k + f
	return logarithm(x, s+(r+(f-(s-k))))
}

// Log10 returns the decimal logarithm of x. The error is at most 0.95 ULP.
func Log10(x float32) float32 {
	m, k := split(x)
	f := m - 1
	p := fma(fma(fma(fma(-0x1.10caecp-5, f, 0x1.ccbcb2p-5), f, -0x1.d755f4p-5), f, 0x1.f84fc8p-5), f, -0x1.276d1p-4)
	p = fma(fma(fma(fma(p, f, 0x1.63d072p-4), f, -0x1.bcbf44p-4), f, 0x1.287a7p-3), f, -0x1.bcb7aap-3)
	r := fma(f, 0x1.bcb7b2p-2, fma(float32(f*f), p, float32(f*-0x1.5b235ep-27)))
	return logarithm(x, fma(k, 0x1.344136p-25, fma(k, -0x1.ec10cp-50, r)))
}

// Log1p returns the natural logarithm of 1+x, and is accurate even if x is near zero. The error is
// at most 1.1 ULP.
func Log1p(x float32) float32 {
	u := 1 + x
	b := math.Float32bits(u)
	i := (b - rootOfHalf) & 0xff800000
	s := math.Float32frombits(0x3f800000 - i)
	f := fma(x, s, s-1)        // (1+x)*s - 1
	rest := fma(x, s, (s-1)-f) // the rounding error of f
	if x > 0x1p60 {            // s may be too small for a float32
		f, rest = math.Float32frombits(b-i)-1, 0
	}
	k := float32(float32(int32(i)) * 0x1p-23)
	y := f + fma(log1pTail(f), float32(f*f), rest)
	return Copysign(logarithm(u, fma(k, ln2Hi, y)), x)
}

// rootOfHalf is sqrt(1/2) as the bits of a float32.
const rootOfHalf = 0x3f3504f3

// log1pPositive is like Log1p for x from 0 to 0x1p60.
func log1pPositive(x float32) float32 {
	i := (math.Float32bits(1+x) - rootOfHalf) & 0xff800000
	s := math.Float32frombits(0x3f800000 - i)
	f := fma(x, s, s-1)
	rest := fma(x, s, (s-1)-f)
	y := f + fma(log1pTail(f), float32(f*f), rest)
	return fma(float32(float32(int32(i))*0x1p-23), ln2Hi, y)
}

// split returns m and k with x = m * 2**(k/2**23), where m is between sqrt(1/2) and sqrt(2) and
// k/2**23 is an integer. x must be positive and finite.
func split(x float32) (m, k float32) {
	low := uint32(0)
	if Abs(x) < 0x1p-126 { // the compiler can decide this for more arguments than x < 0x1p-126
		x, low = float32(x*0x1p23), 23<<23
	}
	b := math.Float32bits(x)
	i := (b - rootOfHalf) & 0xff800000
	return math.Float32frombits(b - i), float32(int32(i - low))
}

// log1p returns the natural logarithm of 1+f, for f from sqrt(1/2)-1 to sqrt(2)-1.
func log1p(f float32) float32 { return fma(log1pTail(f), float32(f*f), f) }

// log1pTail returns (log(1+f) - f) / f**2.
func log1pTail(f float32) float32 {
	p := fma(fma(fma(fma(-0x1.37acdep-4, f, 0x1.083896p-3), f, -0x1.0f48fep-3), f, 0x1.2273f4p-3), f, -0x1.542584p-3)
	return fma(fma(fma(fma(p, f, 0x1.99a3e2p-3), f, -0x1.000432p-2), f, 0x1.55555p-2), f, -0x1.fffff8p-2)
}

// logarithm returns y, or the logarithm of x if x is not a positive finite number.
func logarithm(x, y float32) float32 {
	if math.Float32bits(x) >= 0x7f800000 {
		y = fma(x, Inf(1), Inf(1))
	}
	if x == 0 {
		y = Inf(-1)
	}
	return y
}

// logOfTwice returns the natural logarithm of 2*x, for x above 1.
func logOfTwice(x float32) float32 {
	m, k := split(x)
	return logarithm(x, fma(k+0x1p23, ln2Hi*0x1p-23, log1p(m-1)))
}
