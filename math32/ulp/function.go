package main

import (
	"math"

	"github.com/gopherwarp/gopherwarp/math32"
)

// function is what is measured: its name, the error in units that its documentation states, and the
// bits of the input where it was seen to be largest.
type function struct {
	name  string
	bound float64
	worst uint32
}

// functions are the functions of one argument, in the order of value and reference.
var functions = []function{
	{"Exp", 0.9, 0x42147d24},
	{"Exp2", 0.9, 0xc2fcf037},
	{"Expm1", 1.5, 0x4187e0c8},
	{"Log", 0.95, 0x3fc859aa},
	{"Log2", 1.1, 0x3f3916dd},
	{"Log10", 0.95, 0x3f22c227},
	{"Log1p", 1, 0x3ed4c40f},
	{"Sqrt", 0.5, 0x167fffff},
	{"Rsqrt", 0.5, 0x153a18e3},
	{"Sin", 1.6, 0x6c9cea61},
	{"Cos", 1.6, 0xe695efb7},
	{"Tan", 3, 0x46d3555f},
	{"Asin", 1.8, 0xbf3f6359},
	{"Acos", 1.2, 0x3f1c96ab},
	{"Atan", 1.5, 0xbf812017},
	{"Sinh", 1.7, 0xbfb36281},
	{"Cosh", 1.4, 0x40911617},
	{"Tanh", 1.5, 0x3f1b41b0},
	{"Asinh", 1.7, 0x3f0063bd},
	{"Acosh", 2, 0x3f803eb7},
	{"Atanh", 1.4, 0xbf028953},
	{"Cbrt", 0.51, 0x23d26132},
	{"Erf", 1.1, 0xbf8797b8},
	{"Erfc", 4.3, 0x40943043},
}

// value returns what math32 computes.
func value(which int, x float32) float32 {
	switch which {
	case 0:
		return math32.Exp(x)
	case 1:
		return math32.Exp2(x)
	case 2:
		return math32.Expm1(x)
	case 3:
		return math32.Log(x)
	case 4:
		return math32.Log2(x)
	case 5:
		return math32.Log10(x)
	case 6:
		return math32.Log1p(x)
	case 7:
		return math32.Sqrt(x)
	case 8:
		return math32.Rsqrt(x)
	case 9:
		return math32.Sin(x)
	case 10:
		return math32.Cos(x)
	case 11:
		return math32.Tan(x)
	case 12:
		return math32.Asin(x)
	case 13:
		return math32.Acos(x)
	case 14:
		return math32.Atan(x)
	case 15:
		return math32.Sinh(x)
	case 16:
		return math32.Cosh(x)
	case 17:
		return math32.Tanh(x)
	case 18:
		return math32.Asinh(x)
	case 19:
		return math32.Acosh(x)
	case 20:
		return math32.Atanh(x)
	case 21:
		return math32.Cbrt(x)
	case 22:
		return math32.Erf(x)
	}
	return math32.Erfc(x)
}

// reference returns what it should have.
func reference(which int, x float64) float64 {
	switch which {
	case 0:
		return math.Exp(x)
	case 1:
		return math.Exp2(x)
	case 2:
		return math.Expm1(x)
	case 3:
		return math.Log(x)
	case 4:
		return math.Log2(x)
	case 5:
		return math.Log10(x)
	case 6:
		return math.Log1p(x)
	case 7:
		return math.Sqrt(x)
	case 8:
		return 1 / math.Sqrt(x)
	case 9:
		return math.Sin(x)
	case 10:
		return math.Cos(x)
	case 11:
		return math.Tan(x)
	case 12:
		return math.Asin(x)
	case 13:
		return math.Acos(x)
	case 14:
		return math.Atan(x)
	case 15:
		return math.Sinh(x)
	case 16:
		return math.Cosh(x)
	case 17:
		return math.Tanh(x)
	case 18:
		return math.Asinh(x)
	case 19:
		return math.Acosh(x)
	case 20:
		return math.Atanh(x)
	case 21:
		return math.Cbrt(x)
	case 22:
		return math.Erf(x)
	}
	return math.Erfc(x)
}
