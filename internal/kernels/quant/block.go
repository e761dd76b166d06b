package quant

import "github.com/gopherwarp/gopherwarp/weights/blocks"

// BlockSize is the number of weights in a block of all formats.
const BlockSize = blocks.Size

// Multiply returns the product of a matrix of weights, of rows of len(x) columns, and the vector x, in float64: the reference for
// the kernels.
func Multiply(weights, x []float32) []float64 {
	y := make([]float64, len(weights)/len(x))
	for row := range y {
		for i, w := range weights[row*len(x) : (row+1)*len(x)] {
			y[row] += float64(w) * float64(x[i])
		}
	}
	return y
}
