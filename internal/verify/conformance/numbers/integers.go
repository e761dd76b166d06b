package numbers

import "github.com/gopherwarp/gopherwarp/gpu"

// signed and unsigned are all types of integers.
type (
	signed interface {
		int | int8 | int16 | int32 | int64
	}
	unsigned interface {
		uint | uint8 | uint16 | uint32 | uint64
	}
	integer interface{ signed | unsigned }
)

// pair is two operands.
type pair[T any] struct{ A, B T }

// arithmetic has a behaviour of integers a field.
type arithmetic[T integer] struct {
	Add, Subtract, Multiply, Negate, Complement, And, Or, Xor, AndNot          T
	Divide, Remainder, DivisionRestored, DivideBySelf, DivideOne               T
	DivideByThree, DivideByFive, DivideBySeven, DivideByTen, DivideByHundred   T
	RemainderByThree, RemainderBySeven, RemainderByTen, DivideByHuge           T
	DivideByTwo, DivideBySixteen, RemainderByTwo, RemainderBySixteen           T
	DivideByOne, DivideThenMultiply, DigitSum                                  T
	Min, Max, MinOfThree, Clamped, Increment, Decrement, MultiplyByConstant    T
	SumOfProducts, DifferenceOfSquares, Average, GreatestDivisor, PowerOfThree T
	Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, CompareConstant   bool
	CompareZero, CompareSums, CompareAfterWrap, IsPowerOfTwo, OutsideRange     bool
	NotLess, NotLessEqual, NotGreater                                          bool
}

func calculate[T integer](p pair[T]) (r arithmetic[T]) {
	a, b := p.A, p.B
	r.Add, r.Subtract, r.Multiply, r.Negate, r.Complement = a+b, a-b, a*b, -a, ^a
	r.And, r.Or, r.Xor, r.AndNot = a&b, a|b, a^b, a&^b
	if b != 0 {
		r.Divide, r.Remainder = a/b, a%b
		r.DivisionRestored = a/b*b + a%b
		same := b
		r.DivideBySelf = b / same
		r.DivideOne = 1 / b
	}
	constantDivisors(a, &r)
	r.Min, r.Max, r.MinOfThree = min(a, b), max(a, b), min(a, 5, b)
	r.Clamped = max(3, min(a, 50))
	a++
	r.Increment = a
	a--
	b--
	r.Decrement = b
	b++
	r.MultiplyByConstant = a*3 + b*10 - a*16
	r.SumOfProducts = a*b + b*b + a*a
	r.DifferenceOfSquares = (a + b) * (a - b)
	r.Average = a/2 + b/2 + (a&1)&b
	r.GreatestDivisor = divisor(a, b)
	r.PowerOfThree = power(a)
	compare(a, b, &r)
	return r
}

func constantDivisors[T integer](a T, r *arithmetic[T]) {
	r.DivideByThree, r.DivideByFive, r.DivideBySeven, r.DivideByTen, r.DivideByHundred = a/3, a/5, a/7, a/10, a/100
	r.RemainderByThree, r.RemainderBySeven, r.RemainderByTen = a%3, a%7, a%10
	r.DivideByHuge = a / 127
	r.DivideByTwo, r.DivideBySixteen, r.RemainderByTwo, r.RemainderBySixteen = a/2, a/16, a%2, a%16
	r.DivideByOne = a / 1
	r.DivideThenMultiply = a / 6 * 6
	for rest := a; rest != 0; rest /= 10 {
		r.DigitSum += rest % 10
	}
}

func divisor[T integer](a, b T) T {
	for range 100 {
		if b == 0 {
			break
		}
		a, b = b, a%b
	}
	return a
}

func power[T integer](n T) T {
	p, x := T(1), T(3)
	for n &= 31; n != 0; n /= 2 {
		if n%2 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}

func compare[T integer](a, b T, r *arithmetic[T]) {
	r.Equal, r.NotEqual, r.Less, r.LessEqual = a == b, a != b, a < b, a <= b
	r.Greater, r.GreaterEqual, r.CompareConstant = a > b, a >= b, a < 100
	r.NotLess, r.NotLessEqual, r.NotGreater = !(a < b), !(a <= b), !(a > b)
	r.CompareZero = a > 0 == (b < 1)
	r.CompareSums = a+1 < b+1
	r.CompareAfterWrap = a+1 > a
	r.IsPowerOfTwo = a > 0 && a&(a-1) == 0
	r.OutsideRange = a < 10 || a > 90
}

//gpu:kernel
func int8s(t gpu.Thread, in []pair[int8], out []arithmetic[int8]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = calculate(in[i])
	}
}

//gpu:kernel
func int16s(t gpu.Thread, in []pair[int16], out []arithmetic[int16]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = calculate(in[i])
	}
}

//gpu:kernel
func int32s(t gpu.Thread, in []pair[int32], out []arithmetic[int32]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = calculate(in[i])
	}
}

//gpu:kernel
func int64s(t gpu.Thread, in []pair[int64], out []arithmetic[int64]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = calculate(in[i])
	}
}

//gpu:kernel
func ints(t gpu.Thread, in []pair[int], out []arithmetic[int]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = calculate(in[i])
	}
}

//gpu:kernel
func uint8s(t gpu.Thread, in []pair[uint8], out []arithmetic[uint8]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = calculate(in[i])
	}
}

//gpu:kernel
func uint16s(t gpu.Thread, in []pair[uint16], out []arithmetic[uint16]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = calculate(in[i])
	}
}

//gpu:kernel
func uint32s(t gpu.Thread, in []pair[uint32], out []arithmetic[uint32]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = calculate(in[i])
	}
}

//gpu:kernel
func uint64s(t gpu.Thread, in []pair[uint64], out []arithmetic[uint64]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = calculate(in[i])
	}
}

//gpu:kernel
func uints(t gpu.Thread, in []pair[uint], out []arithmetic[uint]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = calculate(in[i])
	}
}
