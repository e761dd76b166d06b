package numbers

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

type float interface{ float32 | float64 }

// calculated has a behaviour of floats a field.
type calculated[T float] struct {
	Add, Subtract, Multiply, Divide, Negate, NegateZero, Reciprocal             T
	Min, Max, MinOfThree, MaxWithConstant, SumInOrder, SumRegrouped             T
	RoundedProductAndSum, RoundedProductMinus, RoundedInSteps, SquareRounded    T
	DivideByTwo, MultiplyByTwo, DivideByThree, AddZero, SubtractZero, TimesZero T
	TimesOne, MinusSelf, OverSelf, HalfUp, Horner, Compensation, Reassigned     T
	LoopSum, SelectSmaller, Absolute, SquareRoot, InfinityMinusInfinity         T
	Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, IsNaN, IsNotNaN    bool
	NotLess, NotGreaterEqual, OrderedBoth, EqualToZero, CompareConstant         bool
	IfLessElse, SwitchOnValue, CountOfTrue                                      int32
}

// compute rounds every product that a sum follows, so that the result is the same everywhere.
func compute[T float](p pair[T]) (r calculated[T]) {
	a, b := p.A, p.B
	r.Add, r.Subtract, r.Multiply, r.Divide, r.Negate = a+b, a-b, a*b, a/b, -a
	zero := a - a
	r.NegateZero, r.Reciprocal = -zero, 1/a
	r.Min, r.Max, r.MinOfThree, r.MaxWithConstant = min(a, b), max(a, b), min(a, b, 0.25), max(a, -1)
	r.SumInOrder, r.SumRegrouped = a+b+0.1, a+(b+0.1)
	r.RoundedProductAndSum, r.RoundedProductMinus = T(a*b)+a, a-T(b*b)
	product := a * b
	product = T(product)
	r.RoundedInSteps = product + b
	r.SquareRounded = T(a*a) - T(b*b)
	r.DivideByTwo, r.MultiplyByTwo, r.DivideByThree = a/2, a*2, a/3
	r.AddZero, r.SubtractZero, r.TimesZero, r.TimesOne = a+0, a-0, a*0, a*1
	r.MinusSelf, r.OverSelf, r.HalfUp = a-a, a/a, a+0.5
	r.Horner = T(T(T(a*2)+b)*a) + 1
	sum := a + b
	r.Compensation = (a - (sum - (sum - a))) + (b - (sum - a))
	a += b
	a *= b
	a -= 1
	a /= 3
	r.Reassigned = a
	floatLoops(p.A, p.B, &r)
	return r
}

func floatLoops[T float](a, b T, r *calculated[T]) {
	for i := range 5 {
		r.LoopSum += a / T(i+1)
	}
	r.SelectSmaller = b
	if a < b {
		r.SelectSmaller = a
	}
	r.Absolute, r.SquareRoot = T(math.Abs(float64(a))), T(math.Sqrt(float64(a)))
	infinity := T(math.Inf(1))
	r.InfinityMinusInfinity = infinity - infinity
	r.Equal, r.NotEqual, r.Less, r.LessEqual, r.Greater, r.GreaterEqual = a == b, a != b, a < b, a <= b, a > b, a >= b
	r.IsNaN, r.IsNotNaN = a != a, a == a
	r.NotLess, r.NotGreaterEqual = !(a < b), !(a >= b)
	r.OrderedBoth, r.EqualToZero, r.CompareConstant = a < b || a >= b, a == 0, a > 0.1
	if a < b {
		r.IfLessElse = 1
	} else if a > b {
		r.IfLessElse = 2
	} else {
		r.IfLessElse = 3
	}
	switch a {
	case 0:
		r.SwitchOnValue = 1
	case 0.5:
		r.SwitchOnValue = 2
	case b:
		r.SwitchOnValue = 3
	}
	for _, c := range [3]bool{a < b, a == b, a > b} {
		if c {
			r.CountOfTrue++
		}
	}
}

//gpu:kernel
func float32s(t gpu.Thread, in []pair[float32], out []calculated[float32]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = compute(in[i])
	}
}

//gpu:kernel
func float64s(t gpu.Thread, in []pair[float64], out []calculated[float64]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = compute(in[i])
	}
}

// contracted has sums of products that a machine may round once, or twice.
type contracted struct {
	ProductAndSum, ProductMinus, MinusProduct, NegatedProduct, SumOfTwoProducts, InLoop, Accumulated float32
}

func contract(p pair[float32]) (r contracted) {
	a, b := p.A, p.B
	r.ProductAndSum, r.ProductMinus, r.MinusProduct, r.NegatedProduct = a*b+1, a*b-a, a-a*b, -(a*b)+b
	r.SumOfTwoProducts = a*a + b*b
	x := a
	for range 4 {
		x = x*b + a
	}
	r.InLoop = x
	r.Accumulated += a * b
	return r
}

// roundTwice is what contract does with contraction forbidden.
//
//gpu:kernel
//gpu:contract off
func roundTwice(t gpu.Thread, in []pair[float32], out []contracted) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = contract(in[i])
	}
}

// fused stores sums of products that are rounded once because the source says so.
//
//gpu:kernel
func fused(t gpu.Thread, in []pair[float64], out []float64) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = math.FMA(in[i].A, in[i].B, in[i].A)
	}
}

// mayFuse stores what may be rounded once or twice.
//
//gpu:kernel
func mayFuse(t gpu.Thread, in []pair[float64], out []float64) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = in[i].A*in[i].B + in[i].A
	}
}
