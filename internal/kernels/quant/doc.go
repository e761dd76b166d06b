// Package quant multiplies matrices of quantised weights by vectors of float32 or bfloat16 numbers.
//
// The formats are Q4_0, Q4_1 and Q8_0 of package weights/blocks. A block is 32 consecutive weights of a row.
//
// Kernels read a repacked layout, the same on CPUs and GPUs. A tile is 16 rows. For each block of the rows of a tile, the tile
// has planes of 16 integers of 32 bits, one for each row: plane j is bytes 4j to 4j+3 of the blocks:
//
//	p, err := quant.Pack(quant.Q4_1, data, shape)                // data as in the file
//	m := quant.Matrix{Shape: p.Shape, Format: p.Format, ...}     // uploaded
//	n := quant.Workspace[float32, float32](s.Device(), m, rows)  // elements
//	x := quant.Operands[float32, float32]{Rows: rows, X: ..., Y: ..., Add: true, Workspace: ...}
//	err = quant.Multiply(s, m, x)                                // y += m x for each row of X
//
// On a CPU, 16 vector lanes read a plane with one load.
//
// On a GPU, float32 instructions multiply up to four vectors. A lane loads 16 bytes at once, which are 4 bytes of each of four rows, into
// registers, and converts each weight once for all vectors: one instruction selects its bits and sets the exponent of 2^23, one subtracts
// 2^23, which is exact, and one for each vector multiplies and adds. The vectors are in shared memory, where a lane reads each quad once
// for four rows. A lane holds two units of 64 bytes, and requests another unit when it has multiplied one. The first requests precede the
// wait for the preceding kernel.
//
// Tensor cores multiply 5 to 16 vectors, and two or three bfloat16 vectors. A weight costs half an instruction that selects two integers and sets the exponents that make
// them bfloat16 numbers, and half a shift. To remain exact, the product takes each float32 of a vector as three bfloat16 numbers of 8
// bits. Scales and minima of the blocks apply to the float32 sums. Weights arrive by asynchronous copies in a ring in shared memory.
//
// If the vectors do not fit in shared memory, blocks of threads take slices of the columns, which a second kernel adds up. For more than
// 64 vectors, the weights are converted to bfloat16 for package gemm.
package quant

//go:generate go tool kernelgen .
