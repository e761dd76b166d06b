// Package quant multiplies matrices of quantized weights by vectors of float32 or bfloat16 numbers.
//
//	p, err := quant.Pack(quant.Q4_K, data, shape)                // data as in the file
//	m := quant.Matrix{Shape: p.Shape, Format: p.Format, ...}     // uploaded
//	n := quant.Workspace[float32, float32](s.Device(), m, rows)  // elements
//	x := quant.Operands[float32, float32]{Rows: rows, X: ..., Y: ..., Add: true, Workspace: ...}
//	err = quant.Multiply(s, m, x)                                // y += m x for each row of X
//
// The formats are Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 and Q2_K to Q6_K of package weights/blocks. Weights have the same bits
// as in that package, except the sign of zero. Here, a block is 32 consecutive weights of a row. Eight blocks are a
// superblock, which is a block in the files of the formats whose names end with _K.
//
// Kernels read a repacked layout, the same on CPUs and GPUs. A tile is 16 rows. For each block of its rows, a tile has
// planes of 16 integers of 32 bits, one for each row. The number of planes is the number of bits of a weight. A block
// has a scale and a minimum as float16 numbers, or, in a superblock, as small integers by which the superblock's scale
// and minimum are multiplied: the block's group. The layout has the size of the file, except that a weight of Q3_K,
// Q4_K and Q5_K has 1/8 bit more:
//
//	bits of a weight   Q4_0 4.5    Q4_1 5       Q5_0 5.5    Q5_1 6      Q8_0 8.5
//	                   Q2_K 2.625  Q3_K 3.5625  Q4_K 4.625  Q5_K 5.625  Q6_K 6.5625
//
// Q4_0, Q4_1 and Q8_0 have kernels of their own, and so has Q4_K on GPUs. The other formats share kernels, whose
// arguments are the numbers of planes and the bits of groups (the type fields).
//
// On a CPU, 16 vector lanes read a plane with one load. For three vectors or more, they convert a weight once for eight
// vectors.
//
// On a GPU, the number of vectors and the format select the kernel:
//
//   - One bfloat16 vector, in Q4_0, Q4_1, Q4_K and Q6_K: tensor cores (gemv), also with a norm of the vector
//     (gemvNorm). The other operand has the eight blocks of a chunk of the vector in eight columns, and zeros
//     elsewhere. After a chunk, each lane has the sums of one block for its four rows, to which scales and minima
//     apply. The first requests precede the wait for the preceding kernel.
//   - Several vectors, up to 16 at a time, in Q4_0, Q4_1, Q8_0, Q4_K and Q6_K, except a few float32 vectors: tensor
//     cores. To remain exact, the product takes each float32 of a vector as three bfloat16 numbers of 8 bits. Weights
//     arrive by asynchronous copies in a ring in shared memory.
//   - In other cases, up to four vectors at a time: float32 instructions. A lane converts each weight once for all
//     vectors: one instruction selects its bits and sets the exponent of 2^23, one subtracts 2^23, which is exact, and
//     one for each vector multiplies and adds.
//   - More than 64 vectors, or 16 in the formats without kernels for tensor cores: the weights are converted to
//     bfloat16 for package gemm, or to float16, which is more exact, for float16 vectors (MultiplyFine).
//
// If the vectors do not fit in shared memory, blocks of threads take slices of the columns, which a second kernel adds
// up. MultiplyTransposed multiplies by the transpose of a matrix, for derivatives: it converts weights for package
// gemm.
package quant

//go:generate go tool kernelgen .
