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

// recovers does not return, so nothing calls what it defers.
func recovers(n int) (r int) {
	defer func() {
		if recover() != nil { // want "cannot use recover"
			r = 5
		}
	}()
	panic(n)
}

func recoversDirectly(n int) {
	defer recover() // want "cannot use recover"
	panic(n)
}

// defersNil ends with the message of the deferred call in Go.
func defersNil() {
	var f func()
	defer f() // want "cannot call a function value that is not known"
	panic("first")
}

//gpu:kernel
func panics(t gpu.Thread, x []int) {
	switch x[0] {
	case 0:
		x[1] = recovers(x[2])
	case 1:
		recoversDirectly(x[2])
	case 2:
		defersNil()
	}
}
