package main

import (
	"math"

	"github.com/gopherwarp/gopherwarp/math32"
)

// function describes a function to measure: its name, the documented bound of its error in ULP, and
// the bits of the input with the largest known error.
type function struct {
	name  string
	bound float64
	worst uint32
}

// functions lists the functions of one argument, in the order of value and reference.
var functions = []function{
	{"Exp", 0.9, 0xc0bb2813},
	{"Exp2", 0.9, 0xc2fcfe35},
	{"Expm1", 1.5, 0x41881858},
	{"Log", 0.95, 0x3fc882ce},
	{"Log2", 1.1, 0x3fb288fb},
	{"Log10", 0.95, 0x3f25ac5e},
	{"Log1p", 1.1, 0x3ed450fb},
	{"Sqrt", 0.5, 0x017fffff},
	{"Rsqrt", 0.5, 0x013a18e3},
	{"Sin", 1.6, 0x477e460d},
	{"Cos", 1.6, 0x523dc8a3},
	{"Tan", 3.1, 0x46e8969a},
	{"Asin", 1.8, 0x3f3d5ee8},
	{"Acos", 1.1, 0x3f1173c3},
	{"Atan", 1.4, 0x3f812017},
	{"Sinh", 1.7, 0x3fb712eb},
	{"Cosh", 1.4, 0x40a666ed},
	{"Tanh", 1.5, 0x3f1b41b0},
	{"Asinh", 1.8, 0x3f035d99},
	{"Acosh", 2.1, 0x3f83d8c6},
	{"Atanh", 1.4, 0x3f0081f9},
	{"Cbrt", 0.51, 0x01526132},
	{"Erf", 1.1, 0x3f6bf493},
	{"Erfc", 4.2, 0x409680a9},
}

// value returns the result of math32's function.
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

// reference returns the result of package math's function.
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
