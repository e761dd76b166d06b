package k

import "github.com/gopherwarp/gopherwarp/gpu"

func apply(f func(float32) float32, x float32) float32 { // want "cannot use a function value"
	return f(x)
}

func double(x float32) float32 { return 2 * x }

func count(yield func(int) bool) { // want "cannot use a function value"
	yield(1)
}

//gpu:kernel
func functions(t gpu.Thread, x []float32) {
	x[0] = apply(double, x[0])                               // want "cannot use a function value"
	x[1] = apply(func(y float32) float32 { return y }, x[0]) // want "cannot use a function value"
	f := double                                              // want "cannot use a function value"
	if x[0] > 0 {
		f = func(y float32) float32 { return y * x[1] }
	}
	x[2] = f(x[2])
	for i := range count { // want "cannot use a range over a function"
		x[i] = 0
	}
}
