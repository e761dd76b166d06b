package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func complexes(t gpu.Thread, x []float64) {
	c := complex(x[0], x[1]) // want "cannot use a complex number"
	d := c * c
	x[0] = real(d)
}
