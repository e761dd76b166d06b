package array

import (
	"math"

	"github.com/gopherwarp/gopherwarp/math32"
)

// cheap32 returns the result of an operation of few instructions.
func cheap32(op Op, x, y float32) float32 {
	switch op {
	case Neg:
		return -x
	case Abs:
		return math32.Abs(x)
	case Square:
		return x * x
	case ReLU:
		return greater(x, 0)
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	case Div:
		return x / y
	case Maximum:
		return greater(x, y)
	case Minimum:
		return smaller(x, y)
	case ReLUBack:
		if y > 0 {
			return x
		}
		return 0
	}
	return x
}

// of32 returns the result of any operation. Each function of many instructions is called at one place, because calls are inlined.
func of32(op Op, x, y float32) float32 {
	if op.cheap() {
		return cheap32(op, x, y)
	}
	at := argument(op, x, y)
	switch op {
	case SortKey:
		if x != x {
			return math.Float32frombits(0x7fffffff)
		}
		return x + 0 // which is 0 for -0
	case Sqrt:
		return math32.Sqrt(x)
	case Log, TimesLog:
		return ofLog(op, x, math32.Log(at))
	case Tanh:
		return math32.Tanh(x)
	case Pow, PowBack:
		return ofPower(op, y, math32.Pow(x, lowered(op, y)))
	case Exp, Sigmoid, SiLU, SiLUBack, GELU, GELUBack:
		e := math32.Exp(exponent(op, at))
		if op == GELU || op == GELUBack {
			return ofNormal(op, x, 0.5*math32.Erfc(-at*(math.Sqrt2/2)), at*e*(1/math.Sqrt2/math.SqrtPi))
		}
		return ofExponential(op, x, at, e)
	}
	return others(op, x, y)
}
