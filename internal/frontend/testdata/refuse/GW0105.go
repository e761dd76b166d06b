package k

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/gpu"
)

func apply(f func(float32) float32, x float32) float32 { return f(x) }

func timed(f func() int64) int64 { return f() } // want "cannot use Clock as a function value"

func double(x float32) float32 { return 2 * x }

type table struct {
	f func(float32) float32
}

//gpu:kernel
func functions(t gpu.Thread, x []float32) {
	x[0] = apply(double, x[0]) + apply(func(y float32) float32 { return y }, x[0])
	f := double
	if x[0] > 0 {
		f = func(y float32) float32 { return y * x[1] }
	}
	x[2] = f(x[2]) // want "cannot call a function value that is not known when it is compiled"
	var none func(int) int
	x[3] = float32(none(2))                     // want "cannot call a function value that is not known"
	list := [2]func(float32) float32{double, f} // want "cannot use a function value"
	x[4] = list[0](x[4])
	some := table{double} // want "cannot use a function value"
	x[5] = some.f(x[5])
	x[6] = float32(timed(gpu.Clock))
	for i := range x {
		g := f
		if i == 1 {
			x[i] = g(1) // want "cannot call a function value"
		}
	}
	if f == nil { // want "cannot use a function value"
		x[7] = 1
	}
}

func counter(n int) func() int {
	if n > 0 {
		return func() int { return n }
	}
	return func() int { return -n }
}

func set(f *func() int) { *f = func() int { return 1 } }

//gpu:kernel
func unknown(t gpu.Thread, x []int) {
	x[0] = counter(x[1])() // want "cannot call a function value that is not known"
	var f func() int
	set(&f)
	x[1] = f() // want "cannot call a function value that is not known"
	g := func() int { return 2 }
	change := func() { g = func() int { return 3 } }
	change()
	x[2] = g() // want "cannot call a function value that is not known"
}

func forever(f func(int) int, n int) int {
	if n == 0 {
		return 0
	}
	return forever(func(x int) int { return f(x) + 1 }, n-1) // want "recursion: forever calls forever"
}

//gpu:kernel
func recursion(t gpu.Thread, x []int) {
	x[0] = forever(func(x int) int { return x }, x[1])
	var fib func(int) int
	fib = func(n int) int {
		if n < 2 {
			return 1
		}
		return fib(n-1) + fib(n-2) // want "recursion: recursion.func2 calls recursion.func2 "
	}
	x[2] = fib(x[3])
	func() {
		var down func(int) int
		down = func(n int) int {
			return down(n - 1) // want "recursion: recursion.func3.1 calls recursion.func3.1 "
		}
		x[4] = down(x[5])
	}()
	for i := range slices.Values(x) {
		var up func(int) int
		up = func(n int) int {
			return up(n + i) // want "recursion: recursion.func4 calls recursion.func4 "
		}
		x[6] = up(x[7])
	}
}

func address() *func() int {
	var f func() int
	f = func() int { return 4 }
	return &f // want "cannot use a function value"
}

func stored(list []*func() int) {
	f := func() int { return 5 }
	list[0] = &f // want "cannot use a function value"
}

//gpu:kernel
func addresses(t gpu.Thread, x []int) {
	x[0] = (*address())()
	var list [1]*func() int
	stored(list[:])
}
