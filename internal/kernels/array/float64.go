package array

import "math"

// cheap64 returns the result of an operation of few instructions.
func cheap64(op Op, x, y float64) float64 {
	switch op {
	case Neg:
		return -x
	case Abs:
		return math.Abs(x)
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

// of64 returns the result of any operation. Each function of many instructions is called at one place, because calls are inlined.
func of64(op Op, x, y float64) float64 {
	if op.cheap() {
		return cheap64(op, x, y)
	}
	at := argument(op, x, y)
	switch op {
	case SortKey:
		if x != x {
			return math.Float64frombits(0x7fffffffffffffff)
		}
		return x + 0 // which is 0 for -0
	case Sqrt:
		return math.Sqrt(x)
	case Log, TimesLog:
		return ofLog(op, x, math.Log(at))
	case Tanh:
		return math.Tanh(x)
	case Pow, PowBack:
		return ofPower(op, y, math.Pow(x, lowered(op, y)))
	case Exp, Sigmoid, SiLU, SiLUBack, GELU, GELUBack:
		e := math.Exp(exponent(op, at))
		if op == GELU || op == GELUBack {
			return ofNormal(op, x, 0.5*math.Erfc(-at*(math.Sqrt2/2)), at*e*(1/math.Sqrt2/math.SqrtPi))
		}
		return ofExponential(op, x, at, e)
	}
	return others(op, x, y)
}
