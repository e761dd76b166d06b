package quant

import "github.com/gopherwarp/gopherwarp/dtype"

// BlockSize is the number of weights in a block of all formats.
const BlockSize = 32

// BlockQ4 is a block of the format Q4_1, as files have it.
type BlockQ4 struct {
	D, M dtype.F16
	Q    [BlockSize / 2]uint8
}

// Weights returns the weights of the block, with the product and the sum rounded as the Python package gguf rounds them.
func (b *BlockQ4) Weights() (w [BlockSize]float32) {
	d, m := b.D.Float32(), b.M.Float32()
	for i, q := range b.Q {
		w[i] = float32(d*float32(q&15)) + m
		w[i+BlockSize/2] = float32(d*float32(q>>4)) + m
	}
	return w
}

// BlockQ8 is a block of the format Q8_0, as files have it.
type BlockQ8 struct {
	D dtype.F16
	Q [BlockSize]int8
}

// Weights returns the weights of the block.
func (b *BlockQ8) Weights() (w [BlockSize]float32) {
	d := b.D.Float32()
	for i, q := range b.Q {
		w[i] = d * float32(q)
	}
	return w
}

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
