package k

import "github.com/gopherwarp/gopherwarp/gpu"

func each(yield func(int) bool) { _ = yield(1) && yield(2) }

// A value that is refused in an inlined function once left a phi without arguments.
//
//gpu:kernel
func defers(t gpu.Thread, x []int) {
	for range each {
		defer clear(x)
	}
}
