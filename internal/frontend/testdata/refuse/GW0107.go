package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func allocates(t gpu.Thread, x []float32) {
	y := make([]float32, len(x))   // want "cannot use make with a size that is not constant"
	z := make([]float32, len(x)*2) // want "cannot use make"
	x[0] = y[0] + z[0]
	x = append(x, 1) // want "cannot use append"
	x[1] = x[2]
}
