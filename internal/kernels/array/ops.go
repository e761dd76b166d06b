package array

// Op is an operation on elements x and y, or on x alone.
type Op int32

// The operations. Those on integers that have no integer result are not defined.
const (
	Copy    Op = iota // x
	Neg               // -x
	Abs               // the absolute value of x
	Sign              // -1, 0 or 1
	Square            // x*x
	Sqrt              // the square root of x
	Exp               // e to the power of x
	Log               // the natural logarithm of x
	Tanh              // the hyperbolic tangent of x
	Sigmoid           // 1/(1 + exp(-x))
	ReLU              // the greater of x and 0
	GELU              // x times the normal distribution function of x
	SiLU              // x*sigmoid(x)

	Add     // x + y
	Sub     // x - y
	Mul     // x*y
	Div     // x/y
	Maximum // the greater, or NaN if one is
	Minimum // the smaller, or NaN if one is
	Pow     // x to the power of y

	Equal        // 1 if x == y, else 0; the other comparisons likewise
	NotEqual     // x != y
	Less         // x < y
	LessEqual    // x <= y
	Greater      // x > y
	GreaterEqual // x >= y

	ReLUBack    // x if y > 0, else 0
	TanhBack    // x times the derivative of Tanh where its result is y
	SigmoidBack // x times the derivative of Sigmoid where its result is y
	GELUBack    // x times the derivative of GELU at y
	SiLUBack    // x times the derivative of SiLU at y
	Prefer      // the derivative of Maximum with respect to x: 1, or 1/2 if x == y, or 0
	PowBack     // the derivative of Pow with respect to x
	TimesLog    // x*log(y), or 0 if x is 0
	SortKey     // x, or 0 for -0, or the NaN that IEEE 754's total order puts last for any NaN
)

// wide reports whether cheapAll computes the operation.
func (op Op) wide() bool {
	switch op {
	case Copy, Neg, Square, ReLU, Add, Sub, Mul, Div, ReLUBack:
		return true
	}
	return false
}

// cheap reports whether cheap32 computes the operation.
func (op Op) cheap() bool {
	switch op {
	case Copy, Neg, Abs, Square, ReLU, Add, Sub, Mul, Div, Maximum, Minimum, ReLUBack:
		return true
	}
	return false
}
