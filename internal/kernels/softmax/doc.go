// Package softmax computes the softmax of rows of scores, or its logarithm, in float32.
//
//	shape := softmax.Shape{Rows: heads * queries, Columns: keys}
//	err := softmax.Rows(s, shape, softmax.Options{Scale: 0.125, Queries: queries}, softmax.Operands[dtype.BF16]{X: x, Y: y})
//
// On a GPU, some lanes of a warp, a block or a cluster of blocks take a row, and keep it in shared memory between its two uses: up
// to 64 KiB of it in each block. If a row has at most 128 bytes, the lanes take four rows, so that a multiprocessor requests many bytes
// at a time. On the CPU, 16 lanes take a row.
//
// Exponentials are fast ones on a GPU, with a relative error of about 1e-6 for each unit of 8 that an element is below the
// greatest of its row.
package softmax

//go:generate go tool kernelgen .
