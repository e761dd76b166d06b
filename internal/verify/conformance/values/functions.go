package values

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/values/geometry"
)

// called has a behaviour of functions a field.
type called struct {
	Function, Nested, ManyArguments, NoResult, Variadic, VariadicNone, VariadicSlice   int64
	PointerArgument, PointerToElement, PointerOfPointer, ArgumentIsCopy, NamedResults  int64
	MethodOfNumber, MethodOfArray, MethodOfSlice, MethodExpression, MethodChain        int64
	Closure, ClosureChanges, ClosureInLoop, ClosureOfClosure, ClosureArgument          int64
	ClosureInBranchOfLoop                                                              int64
	Generic, GenericTwo, GenericMethod, GenericStruct, GenericConstraintMethod         int64
	GenericArray, GenericNumbers, GenericInference, OtherPackage, OtherPackagePointer  int64
	OtherPackageConstant, OtherPackageTable, OtherPackageFunctionTable, OtherGeneric   int64
	TableArray, TableSlice, TableStructs, TableNested, TableFloats, TableZero, TableOf int64
	ConstantIota, ConstantTyped, ConstantExpression, ConstantRune, ConstantShift       int64
	ConstantString, ConstantFloat, ConstantBig, ThreadArgument, EarlyReturns           int64
	MultipleAssignCall, CallInCondition, CallInIndex, DeepNest, SameFunctionTwice      int64
}

func callAll(n int64) (r called) {
	calls(n, &r)
	methods(n, &r)
	closures(n, &r)
	generics(n, &r)
	others(n, &r)
	tables(n, &r)
	constants(n, &r)
	return r
}

//gpu:kernel
func functions(t gpu.Thread, n []int64, out []called) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = callAll(n[i])
		out[i].ThreadArgument = where(t) - int64(t.GlobalX())
	}
}

func where(t gpu.Thread) int64 { return int64(t.BlockX()*t.BlockDimX() + t.ThreadX()) }

func twice(x int64) int64         { return 2 * x }
func plus(a, b int64) int64       { return a + b }
func store(p *int64, x int64)     { *p = x }
func change(x int64) int64        { x *= 3; return x }
func both(n int64) (int64, int64) { return n, -n }

func total(first int64, rest ...int64) int64 {
	for i, x := range rest {
		first += x * int64(i+1)
	}
	return first
}

func level5(n int64) int64 { return n + 5 }
func level4(n int64) int64 { return level5(n)*2 + level5(n+1) }
func level3(n int64) int64 { return level4(n) - level5(n) }
func level2(n int64) int64 { return level3(n)*level4(n) + 1 }

func calls(n int64, r *called) {
	r.Function, r.Nested = twice(n), twice(twice(plus(n, twice(1))))
	many := func(a int8, b uint16, c float32, d bool, e int64, f [2]int32, g option, h float64) int64 {
		x := int64(a) + int64(b) + int64(c) + e + int64(f[1]) + g.value + int64(h)
		if d {
			return x
		}
		return -x
	}
	r.ManyArguments = many(int8(n), 2, 3.5, n > 2, 4, [2]int32{5, 6}, option{value: 7}, 8)
	store(&r.NoResult, n+1)
	r.Variadic, r.VariadicNone = total(1, n, 3, 5), total(n)
	list := [3]int64{n, 2, 1}
	r.VariadicSlice = total(0, list[:]...)
	x := n
	p := &x
	store(p, x+10)
	r.PointerArgument = x
	store(&list[n%3], 70)
	r.PointerToElement = list[0] + list[1]*10 + list[2]*100
	pp := &p
	**pp += 5
	*pp = &list[0]
	**pp = 3
	r.PointerOfPointer = x*100 + list[0]
	y := n
	r.ArgumentIsCopy = change(y)*10 + y
	r.NamedResults, r.EarlyReturns = halves(n)
	a, b := both(n)
	b, a = both(a + b + 1)
	r.MultipleAssignCall = a*10 + b
	if twice(n) > 6 && plus(n, 1) < 9 {
		r.CallInCondition = 1
	}
	r.CallInIndex = list[twice(n)%3]
	r.DeepNest, r.SameFunctionTwice = level2(n), level5(level5(n))
}

func halves(n int64) (low, high int64) {
	defer0 := n / 2
	low = defer0
	if n > 4 {
		return
	}
	high = n - low
	return high, low
}

// celsius, vector and numbers are types with methods that are no structs.
type (
	celsius float64
	vector  [3]int64
	numbers []int64
)

func (c celsius) fahrenheit() celsius { return celsius(c*9)/5 + 32 }
func (v vector) dot(w vector) int64   { return v[0]*w[0] + v[1]*w[1] + v[2]*w[2] }
func (v *vector) set(i int, x int64)  { v[i] = x }
func (v vector) with(i int, x int64) vector {
	v[i] = x
	return v
}
func (x numbers) last() int64 { return x[len(x)-1] }

func methods(n int64, r *called) {
	r.MethodOfNumber = int64(celsius(n).fahrenheit())
	v := vector{1, n, 3}
	v.set(0, 5)
	r.MethodOfArray = v.dot(vector{1, 2, 3})
	list := [4]int64{1, 2, 3, n}
	r.MethodOfSlice = numbers(list[:]).last() + numbers(list[:2]).last()*10
	r.MethodExpression = vector.dot(v, v)
	r.MethodChain = v.with(0, n).with(2, 1).dot(v)
}

func closures(n int64, r *called) {
	offset := n
	add := func(x int64) int64 { return x + offset }
	r.Closure = add(10)
	count := int64(0)
	step := func(by int64) { count += by; offset = by }
	step(3)
	step(n)
	r.ClosureChanges = count*10 + add(1)
	for i := range n {
		square := func() int64 { return i * i }
		r.ClosureInLoop += square()
	}
	twiceAdded := func(x int64) int64 {
		inner := func(y int64) int64 { return y + offset + x }
		return inner(inner(x))
	}
	r.ClosureOfClosure = twiceAdded(n)
	for i, x := range [3]int64{n, 2, 3} {
		if x > 2 {
			p := &x
			add := func() { r.ClosureInBranchOfLoop += *p * int64(i+1) }
			add()
		}
	}
	func() { r.ClosureArgument = n + 7 }()
}

// number, adder and box are for generic functions.
type number interface{ ~int32 | ~int64 | ~float64 }

type operation interface{ apply(a, b int64) int64 }

type adding struct{}
type largest struct{}

func (adding) apply(a, b int64) int64  { return a + b }
func (largest) apply(a, b int64) int64 { return max(a, b) }

func fold[O operation](x []int64) int64 {
	var op O
	acc := x[0]
	for _, v := range x[1:] {
		acc = op.apply(acc, v)
	}
	return acc
}

func larger[T number](a, b T) T {
	if a > b {
		return a
	}
	return b
}

func convert[From, To number](x From) To { return To(x) / 2 }

type box[T any] struct {
	value T
	set   bool
}

func (b *box[T]) put(v T) { b.value, b.set = v, true }
func (b box[T]) or(v T) T {
	if b.set {
		return b.value
	}
	return v
}

func swapped[A, B any](a A, b B) (B, A) { return b, a }

func lastOf[T any, S ~[]T](s S) T { return s[len(s)-1] }

func generics(n int64, r *called) {
	r.Generic = larger(n, 4) + int64(larger(float64(n), 2.5)*10) + int64(larger(int32(n), 3))*100
	a, b := swapped(int8(n), 2.5)
	r.GenericTwo = int64(a*2) + int64(b)*10
	var x box[int64]
	r.GenericMethod = x.or(9)
	x.put(n)
	r.GenericMethod += x.or(9) * 100
	y := box[box[float32]]{value: box[float32]{float32(n), true}}
	r.GenericStruct = int64(y.value.or(1)) + int64(y.or(box[float32]{}).value)*10
	list := [4]int64{n, 3, 8, 1}
	r.GenericConstraintMethod = fold[adding](list[:])*100 + fold[largest](list[:])
	r.GenericArray = lastOf(list[:3]) + int64(lastOf([]int8{1, 2}))*10
	r.GenericNumbers = int64(convert[int64, float64](n)*2) + convert[float64, int64](9.9)*100
	r.GenericInference = int64(larger(celsius(n), 3))
}

func others(n int64, r *called) {
	v := geometry.Vector{X: float64(n), Y: 2, Z: 3}
	r.OtherPackage = int64(v.Dot(geometry.Vector{X: 1, Y: 1, Z: 1}))
	v.Scale(2)
	r.OtherPackagePointer = int64(v.X + v.Z)
	r.OtherPackageConstant, r.OtherPackageTable = geometry.Limit+n, int64(geometry.Primes[n&7])
	r.OtherPackageFunctionTable = int64(geometry.Secret(int(n)))
	var s geometry.Stack[int32]
	for i := range n + 2 {
		s.Push(int32(i * i))
	}
	top, ok := s.Pop()
	if ok {
		r.OtherGeneric = int64(top) + int64(s.Depth)*1000 + geometry.Sum(n, 2, 3)*100000
	}
}

var (
	weights  = [4]float64{0.5, 1.25, -3, 1e3}
	steps    = []int16{3, 1, -4, 1, -5}
	corners  = [3]struct{ X, Y int32 }{{1, 2}, {3, 4}, {-5, 6}}
	pyramid  = [2][3]uint8{{1, 2, 3}, {250, 251, 252}}
	nothing  [6]int64
	switches = [4]bool{true, false, true, true}
)

func tables(n int64, r *called) {
	r.TableFloats = int64(weights[n&3] * 4)
	r.TableArray = int64(corners[n%3].X) + int64(len(corners))*100
	r.TableSlice = int64(steps[n%5]) + int64(len(steps))*100
	for _, s := range steps[1:4] {
		r.TableSlice = r.TableSlice*3 + int64(s)
	}
	c := corners[(n+1)%3]
	r.TableStructs = int64(c.X*10 + c.Y)
	r.TableNested = int64(pyramid[n&1][n%3]) + int64(pyramid[1][0])*1000
	r.TableZero = nothing[n%6]
	if switches[n&3] {
		r.TableOf = 1
	}
}

const (
	north = iota
	east
	south
	_
	up = iota * 10
)

const (
	small   int8 = 100
	mask         = 1<<12 - 1
	million      = 1e6
	name         = "gopher"
	big          = 1 << 100
)

func constants(n int64, r *called) {
	r.ConstantIota = n + east*10 + south*100 + up*1000 + north
	r.ConstantTyped = int64(small+int8(n)) + int64(small/3)
	r.ConstantExpression = n&mask + (7*3-1)/4%3
	r.ConstantRune = int64('G') + n*int64('ü')
	r.ConstantShift = n<<3 + 1<<10>>3
	r.ConstantString = int64(len(name)) * n
	r.ConstantFloat = n*million + int64(1.0/3*9)
	r.ConstantBig = big>>98 + n
}
