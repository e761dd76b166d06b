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
	switch op {
	case Sqrt:
		return math.Sqrt(x)
	case Log, TimesLog:
		log := math.Log(argument(op, x, y))
		if op == TimesLog {
			return timesLog(x, log)
		}
		return log
	case Tanh:
		return math.Tanh(x)
	case Pow, PowBack:
		return ofPower(op, y, math.Pow(x, lowered(op, y)))
	case GELU, GELUBack:
		at := argument(op, x, y)
		slope := at * math.Exp(-0.5*at*at) * (1 / math.Sqrt2 / math.SqrtPi)
		return ofNormal(op, x, 0.5*math.Erfc(-at*(math.Sqrt2/2)), slope)
	case Exp:
		return math.Exp(x)
	case Sigmoid, SiLU, SiLUBack:
		at := argument(op, x, y)
		return ofSigmoid(op, x, at, 1/(1+math.Exp(-at)))
	}
	return others(op, x, y)
}
