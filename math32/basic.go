package math32

import "math"

// Abs returns the absolute value of x.
func Abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// Copysign returns a value with the magnitude of f and the sign of sign.
func Copysign(f, sign float32) float32 {
	return math.Float32frombits(math.Float32bits(f)&^(1<<31) | math.Float32bits(sign)&(1<<31))
}

// Signbit reports whether x is negative or negative zero.
func Signbit(x float32) bool { return math.Float32bits(x)>>31 != 0 }

// Inf returns positive infinity if sign >= 0 and negative infinity if sign < 0.
func Inf(sign int) float32 {
	if sign >= 0 {
		return math.Float32frombits(0x7f800000)
	}
	return math.Float32frombits(0xff800000)
}

// IsInf reports whether x is an infinity, according to sign. If sign > 0, IsInf reports whether x
// is positive infinity. If sign < 0, IsInf reports whether x is negative infinity. If sign == 0,
// IsInf reports whether x is either infinity.
func IsInf(x float32, sign int) bool {
	return sign >= 0 && x > math.MaxFloat32 || sign <= 0 && x < -math.MaxFloat32
}

// NaN returns a NaN.
func NaN() float32 { return math.Float32frombits(0x7fc00000) }

// IsNaN reports whether x is a NaN.
func IsNaN(x float32) bool { return x != x }

// Max returns the larger of x and y. Max(x, Inf(1)) is positive infinity for every x. Otherwise the
// result is NaN if x or y is NaN. Max(0, -0) is 0.
func Max(x, y float32) float32 {
	if x == Inf(1) || y == Inf(1) {
		return Inf(1)
	}
	return max(x, y)
}

// Min returns the smaller of x and y. Min(x, Inf(-1)) is negative infinity for every x. Otherwise
// the result is NaN if x or y is NaN. Min(0, -0) is -0.
func Min(x, y float32) float32 {
	if x == Inf(-1) || y == Inf(-1) {
		return Inf(-1)
	}
	return min(x, y)
}

// Dim returns the maximum of x-y and 0.
func Dim(x, y float32) float32 {
	v := x - y
	if v <= 0 {
		return 0
	}
	return v
}

// Sqrt returns the correctly rounded square root of x.
func Sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// Rsqrt returns the correctly rounded reciprocal of the square root of x.
func Rsqrt(x float32) float32 {
	// The float64 reciprocal square root of a float32 is never so close to the midpoint between two
	// float32 values that the two roundings before the last one affect the result. This was
	// verified for all significands.
	return float32(1 / math.Sqrt(float64(x)))
}
