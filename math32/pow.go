package math32

import "math"

// Pow returns x**y. The largest error found by tests on random inputs is 2.1 ULP.
func Pow(x, y float32) float32 {
	hi, lo := log2Parts(Abs(x))
	h := float32(y * hi)
	l := fma(y, lo, fma(y, hi, -h))
	if !(Abs(h) < 256) { // also if x is zero or infinite
		l = 0
	}
	p, n := exp2Parts(h, l)
	r := saturated(scaled(p, n), h, 160)
	odd, integer := parity(y)
	if math.Float32bits(x)>>31 != 0 {
		if odd {
			r = -r
		}
		if !integer && x < 0 && x >= -math.MaxFloat32 {
			r = NaN()
		}
	}
	if x == 1 || y == 0 || x == -1 && IsInf(y, 0) {
		return 1
	}
	return r
}

// parity reports whether y is an odd integer, and whether y is an integer.
func parity(y float32) (odd, integer bool) {
	a := Abs(y)
	integer = Trunc(y) == y
	return integer && a < 1<<24 && uint32(a)&1 != 0, integer
}

// log2Parts returns the binary logarithm of x as the sum of two parts. x is not negative.
func log2Parts(x float32) (hi, lo float32) {
	m, k := split(x)
	k *= 0x1p-23
	// log(m) is 2*atanh(s) with s = (m-1) / (m+1).
	f, d := m-1, m+1
	rest := m - (d - 1)
	r := recip(d)
	s := float32(f * r)
	low := float32(fma(-s, rest, fma(-s, d, f)) * r)
	q := float32(s * s)
	low = fma(low, q, low) // the derivative of atanh
	p := fma(fma(0x1.6426d2p-2, q, 0x1.a521cap-2), q, 0x1.27786cp-1)
	cube := float32(q * s)
	h := float32(s * twoLog2eHi)
	l := fma(s, twoLog2eLo, fma(low, twoLog2eHi, fma(s, twoLog2eHi, -h)))
	l = fma(cube, fma(q, p, cubic), l)
	sum := k + h
	l += h - (sum - k)
	hi = sum + l
	lo = l - (hi - sum)
	if x == 0 {
		return Inf(-1), 0
	}
	if !(x <= math.MaxFloat32) {
		return x, 0
	}
	return hi, lo
}

const (
	twoLog2eHi = 0x1.715476p+1
	twoLog2eLo = 0x1.4ae0cp-25
	cubic      = 0x1.ec709cp-1
)
