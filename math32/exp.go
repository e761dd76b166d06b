package math32

import "math"

const (
	// Adding shifter to a number and subtracting it again rounds the number to the nearest integer,
	// which is in the lowest bits of the sum.
	shifter = 0x1.8p23

	log2e = 0x1.715476p+0
	ln2Hi = 0x1.62e43p-1 // its product with an 8-bit integer is exact
	ln2Lo = -0x1.05c61p-29
)

// Exp returns e**x. The error is at most 0.9 ULP.
func Exp(x float32) float32 {
	p, n := expParts(x)
	// Scaling in two steps ensures that only the final result may be subnormal or infinite. The
	// compiler removes the branch in a kernel whose x is known not to be positive.
	scale, rest := uint32(0x3f800000+64<<23), uint32(0x3f800000-64<<23)
	if x > 0 {
		scale, rest = rest, scale
	}
	y := float32(float32(p*math.Float32frombits(n<<23+scale)) * math.Float32frombits(rest))
	if Abs(x) > 104 {
		y = 0
		if x > 0 {
			y = Inf(1)
		}
	}
	return y
}

// expParts returns p, and n in the lowest bits, with e**x = p * 2**n.
func expParts(x float32) (p float32, n uint32) {
	t := fma(x, log2e, shifter)
	k := t - shifter
	r := fma(k, -ln2Lo, fma(k, -ln2Hi, x))
	p = fma(fma(fma(fma(0x1.6a4f8ap-10, r, 0x1.123988p-7), r, 0x1.5558aep-5), r, 0x1.555492p-3), r, 0x1.fffffcp-2)
	return fma(fma(p, r, 1), r, 1), math.Float32bits(t)
}

// scaled returns p * 2**n. The lowest 9 bits of n are a signed integer from -250 to 250, and the
// next bits are zero. Scaling in two steps ensures that only the final result may be subnormal or
// infinite.
func scaled(p float32, n uint32) float32 {
	half := n >> 1
	return float32(float32(p*power(half)) * power(n-half))
}

// power returns 2**n, where the lowest 8 bits of n are the exponent.
func power(n uint32) float32 { return math.Float32frombits(n<<23 + 0x3f800000) }

// saturated returns y, or infinity if x > limit, or zero if x < -limit.
func saturated(y, x, limit float32) float32 {
	if x > limit {
		return Inf(1)
	}
	if x < -limit {
		return 0
	}
	return y
}

// Exp2 returns 2**x. The error is at most 0.9 ULP.
func Exp2(x float32) float32 {
	p, n := exp2Parts(x, 0)
	return saturated(scaled(p, n), x, 151)
}

// exp2Parts returns p and n with 2**(x+low) = p * 2**n.
func exp2Parts(x, low float32) (p float32, n uint32) {
	t := x + shifter
	r := x - (t - shifter) + low
	p = fma(fma(fma(0x1.417a7p-13, r, 0x1.5f0948p-10), r, 0x1.3b2dd2p-7), r, 0x1.c6af7ap-5)
	p = fma(fma(p, r, 0x1.ebfbdcp-3), r, 0x1.62e43p-1)
	return fma(p, r, 1), math.Float32bits(t)
}

// Expm1 returns e**x - 1, and is accurate even if x is near zero. The error is at most 1.5 ULP.
func Expm1(x float32) float32 {
	t := fma(x, log2e, shifter)
	if Abs(x) < 0.5 { // the subtraction at the end would lose more bits
		t = shifter
	}
	k := t - shifter
	r := fma(k, -ln2Lo, fma(k, -ln2Hi, x))
	p := fma(fma(fma(0x1.a538dap-13, r, 0x1.6f487cp-10), r, 0x1.110d0cp-7), r, 0x1.5551cp-5)
	p = fma(fma(fma(p, r, 0x1.555558p-3), r, 0x1.000002p-1), float32(r*r), r)
	// Halving the power of two avoids an overflow for the largest values of x. It is exact wherever
	// it affects the difference.
	s := power(math.Float32bits(t) - 1)
	y := fma(p, s, s-0.5)
	y = Copysign(y+y, x)
	if x > 89 {
		return Inf(1)
	}
	if x < -18 {
		return -1
	}
	return y
}
