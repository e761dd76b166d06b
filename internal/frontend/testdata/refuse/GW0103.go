package k

import "github.com/gopherwarp/gopherwarp/gpu"

func work() {
	recover() // want "cannot use recover"
}

func each(yield func(int) bool) {
	_ = yield(1) && yield(2)
}

//gpu:kernel
func defers(t gpu.Thread, x []int) {
	defer work()
	for i := range x {
		defer clear(x[i:]) // want "cannot defer a call in a loop"
	}
	for range each {
		defer clear(x) // want "cannot defer a call in the body of a range over a function"
	}
	defer gpu.AtomicAdd(&x[0], 1) // want "cannot defer AtomicAdd, which has a result"
	var f func()
	if x[0] > 0 {
		f = func() { x[1] = 1 }
	}
	defer f() // want "cannot call a function value that is not known"
}
