package math32

import "math"

// Floor returns the greatest integer value less than or equal to x.
func Floor(x float32) float32 { return float32(math.Floor(float64(x))) }

// Ceil returns the least integer value greater than or equal to x.
func Ceil(x float32) float32 { return float32(math.Ceil(float64(x))) }

// Trunc returns the integer value of x.
func Trunc(x float32) float32 { return float32(math.Trunc(float64(x))) }

// RoundToEven returns the nearest integer, rounding ties to even.
func RoundToEven(x float32) float32 { return float32(math.RoundToEven(float64(x))) }

// Round returns the nearest integer, rounding half away from zero.
func Round(x float32) float32 {
	t := Trunc(x)
	if Abs(x-t) >= 0.5 {
		t += Copysign(1, x)
	}
	return t
}

// Modf returns the integer and fractional parts of x, both with the sign of x.
func Modf(x float32) (whole, frac float32) {
	whole = Trunc(x)
	return whole, Copysign(x-whole, x)
}

// Frexp returns frac and exp with x = frac * 2**exp, where the absolute value of frac is in the
// interval [1/2, 1). If x is zero, infinite or NaN, Frexp returns x and 0.
func Frexp(x float32) (frac float32, exp int) {
	if x == 0 || IsInf(x, 0) || IsNaN(x) {
		return x, 0
	}
	if Abs(x) < 0x1p-126 {
		x, exp = float32(x*0x1p24), -24
	}
	b := math.Float32bits(x)
	exp += int(b>>23&0xff) - 126
	return math.Float32frombits(b&^(0xff<<23) | 126<<23), exp
}

// Ldexp returns frac * 2**exp, rounded only once.
func Ldexp(frac float32, exp int) float32 {
	exp = max(-400, min(exp, 400))
	return float32(float64(frac) * math.Float64frombits(uint64(1023+exp)<<52))
}
