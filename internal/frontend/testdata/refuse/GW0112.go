package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func prints(t gpu.Thread, x []float32) {
	println(x[0]) // want "cannot use the built-in print \(GW0112\)\n\tuse gpu.Printf"
	print("x")    // want "cannot use the built-in print"
}
