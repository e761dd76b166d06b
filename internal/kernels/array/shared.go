package array

// real is a type of the numbers that kernels compute with.
type real interface{ float32 | float64 }

// number is real, or int64 for integers.
type number interface{ real | int64 }

// truth returns 1 for true and 0 for false.
func truth[T number](b bool) T {
	if b {
		return 1
	}
	return 0
}

// greater returns the greater of x and y, or NaN if one is. The built-in function needs instructions that only some GPUs have, and
// thereby two variants of a kernel.
func greater[T number](x, y T) T {
	if x > y || x != x {
		return x
	}
	return y
}

// smaller is like greater for the smaller one.
func smaller[T number](x, y T) T {
	if x < y || x != x {
		return x
	}
	return y
}

// compare returns the result of a comparison, or else -1, 0 or 1 as x is less than, equal to or greater than y.
func compare[T number](op Op, x, y T) T {
	switch op {
	case Equal:
		return truth[T](x == y)
	case NotEqual:
		return truth[T](x != y)
	case Less:
		return truth[T](x < y)
	case LessEqual:
		return truth[T](x <= y)
	case Greater:
		return truth[T](x > y)
	case GreaterEqual:
		return truth[T](x >= y)
	}
	return truth[T](x > y) - truth[T](x < y)
}

// others returns the result of an operation that is neither a function of many instructions nor among the simplest.
func others[T real](op Op, x, y T) T {
	switch op {
	case TanhBack:
		return x * (1 - y*y)
	case SigmoidBack:
		return x * y * (1 - y)
	case Sign:
		if x != x {
			return x
		}
		return compare(op, x, 0)
	case Prefer:
		return 0.5 + 0.5*compare(op, x, y)
	}
	return compare(op, x, y)
}

// argument returns the argument of the function of which op is the value, at x, or the derivative, at y.
func argument[T real](op Op, x, y T) T {
	if op >= ReLUBack {
		return y
	}
	return x
}

// ofNormal returns GELU or GELUBack, given the normal distribution function p of the argument, and its derivative times the argument.
func ofNormal[T real](op Op, x, p, slope T) T {
	if op == GELU {
		return x * p
	}
	return x * (p + slope)
}

// exponent returns the exponent of the exponential that a function of at needs.
func exponent[T real](op Op, at T) T {
	switch op {
	case Exp:
		return at
	case GELU, GELUBack:
		return -0.5 * at * at
	}
	return -at
}

// ofExponential returns Exp, Sigmoid, SiLU or SiLUBack, given the exponential.
func ofExponential[T real](op Op, x, at, e T) T {
	s := 1 / (1 + e)
	switch op {
	case Exp:
		return e
	case Sigmoid:
		return s
	case SiLU:
		return x * s
	}
	return x * s * (1 + at*(1-s))
}

// lowered returns the exponent of the power that Pow or PowBack computes.
func lowered[T real](op Op, y T) T {
	if op == PowBack {
		return y - 1
	}
	return y
}

// ofPower returns Pow or PowBack, given the power p.
func ofPower[T real](op Op, y, p T) T {
	switch {
	case op == Pow:
		return p
	case y == 0:
		return 0
	}
	return y * p
}

// ofLog returns Log or TimesLog, given the logarithm.
func ofLog[T real](op Op, x, log T) T {
	switch {
	case op == Log:
		return log
	case x == 0:
		return 0
	}
	return x * log
}
