package k

import (
	"errors"
	"strconv"

	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func panics(t gpu.Thread, x []float32) {
	switch x[0] {
	case 0:
		panic(errors.New("zero")) // want "cannot use the function errors.New"
	case 1:
		panic(x) // want "panic: an argument has type \[\]float32"
	case 2:
		panic(nil) // want "panic with a value that is not a constant string, a number or a boolean"
	}
}

//gpu:kernel
func asserts(t gpu.Thread, x []float32) {
	gpu.Assert(x[0] > 0, strconv.Itoa(len(x))) // want "gpu.Assert: the message is not constant"
}
