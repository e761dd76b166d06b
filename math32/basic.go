package math32

import "math"

// Abs returns the absolute value of x.
func Abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// Copysign returns f with the sign of sign.
func Copysign(f, sign float32) float32 {
	return math.Float32frombits(math.Float32bits(f)&^(1<<31) | math.Float32bits(sign)&(1<<31))
}

// Signbit reports whether x is negative, or negative zero.
func Signbit(x float32) bool { return math.Float32bits(x)>>31 != 0 }

// Inf returns infinity with the given sign; 0 is positive.
func Inf(sign int) float32 {
	if sign >= 0 {
		return math.Float32frombits(0x7f800000)
	}
	return math.Float32frombits(0xff800000)
}

// IsInf reports whether x is an infinity with the given sign; 0 stands for either.
func IsInf(x float32, sign int) bool {
	return sign >= 0 && x > math.MaxFloat32 || sign <= 0 && x < -math.MaxFloat32
}

// NaN returns a value that is not a number.
func NaN() float32 { return math.Float32frombits(0x7fc00000) }

// IsNaN reports whether x is not a number.
func IsNaN(x float32) bool { return x != x }

// Max returns the larger of x and y: Max(x, Inf(1)) is infinite for every x, NaN wins over other
// numbers, and 0 is larger than -0.
func Max(x, y float32) float32 {
	if x == Inf(1) || y == Inf(1) {
		return Inf(1)
	}
	return max(x, y)
}

// Min returns the smaller of x and y: Min(x, Inf(-1)) is infinite for every x, NaN wins over other
// numbers, and -0 is smaller than 0.
func Min(x, y float32) float32 {
	if x == Inf(-1) || y == Inf(-1) {
		return Inf(-1)
	}
	return min(x, y)
}

// Dim returns the larger of x-y and 0.
func Dim(x, y float32) float32 {
	v := x - y
	if v <= 0 {
		return 0
	}
	return v
}

// Sqrt returns the square root of x, correctly rounded.
func Sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// Rsqrt returns 1 over the square root of x, correctly rounded.
func Rsqrt(x float32) float32 {
	// In float64 no square root of a float32 is so near to the middle between two float32 that the
	// two roundings before the last one matter: all significands were tried.
	return float32(1 / math.Sqrt(float64(x)))
}
