package math32

import "math"

// Cbrt returns the cube root of x. The error is at most 0.51 ULP.
func Cbrt(x float32) float32 {
	a := Abs(x)
	scale := float32(1)
	if a < 0x1p-60 { // prevents subnormal remainders
		a, scale = float32(a*0x1p72), 0x1p-24
	}
	// y approximates 1 over the root: as integers, the bits of y are close to a linear function of
	// the bits of a.
	y := math.Float32frombits(0x54a2fa8c - math.Float32bits(a)/3)
	for range 2 {
		e := fma(-float32(float32(a*y)*y), y, 1)
		y = fma(float32(y*e), fma(fma(0x1.61f9aep-3, e, 0x1.c71c72p-3), e, 0x1.555556p-2), y)
	}
	r := float32(float32(a*y) * y)
	s := float32(r * r)
	rest := fma(-fma(r, r, -s), r, fma(-s, r, a)) // a - r**3
	r = fma(float32(rest*0x1.555556p-2), float32(y*y), r)
	if x == 0 || !(a <= math.MaxFloat32) {
		return x
	}
	return Copysign(float32(r*scale), x)
}

// Hypot returns the length of the vector (x, y), without unnecessary overflow or underflow. The
// error is at most 1 ULP.
func Hypot(x, y float32) float32 {
	a, b := Abs(x), Abs(y)
	if a < b {
		a, b = b, a
	}
	scale, back := float32(1), float32(1)
	if a > 0x1p60 {
		scale, back = 0x1p-70, 0x1p70
	}
	if a < 0x1p-40 {
		scale, back = 0x1p90, 0x1p-90
	}
	u, v := float32(a*scale), float32(b*scale)
	r := float32(root(fma(u, u, float32(v*v))) * back)
	if a == 0 && b == 0 {
		r = 0
	}
	if IsInf(x, 0) || IsInf(y, 0) {
		return Inf(1)
	}
	return r
}
