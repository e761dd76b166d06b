package k

import "github.com/gopherwarp/gopherwarp/gpu"

func assembly(x float32) float32

//gpu:kernel
func outside(t gpu.Thread, x []float32) {
	x[0] = assembly(x[0]) // want "cannot call assembly: it has no Go source"
}
