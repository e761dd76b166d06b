// Package quant multiplies matrices of quantized weights by vectors of float32 or bfloat16 numbers.
//
// The formats are Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 and Q2_K to Q6_K of package weights/blocks. In this package, a block is 32 consecutive
// weights of a row. Eight blocks are a superblock, which is a block in the files of the formats whose names end with _K.
//
// Kernels read a repacked layout, the same on CPUs and GPUs. A tile is 16 rows. For each block of the rows of a tile, the tile has planes of
// 16 integers of 32 bits, one for each row, as many planes as a weight has bits. A scale and a minimum of a block are float16 numbers, or
// those of its superblock times small integers, which are the block's group. The layout has the size of the file, except that a weight of
// Q3_K, Q4_K and Q5_K has 1/8 bit more:
//
//	bits of a weight   Q4_0 4.5    Q4_1 5       Q5_0 5.5    Q5_1 6      Q8_0 8.5
//	                   Q2_K 2.625  Q3_K 3.5625  Q4_K 4.625  Q5_K 5.625  Q6_K 6.5625
//
// Weights have the same bits as those of package weights/blocks, except the sign of zero.
//
//	p, err := quant.Pack(quant.Q4_K, data, shape)                // data as in the file
//	m := quant.Matrix{Shape: p.Shape, Format: p.Format, ...}     // uploaded
//	n := quant.Workspace[float32, float32](s.Device(), m, rows)  // elements
//	x := quant.Operands[float32, float32]{Rows: rows, X: ..., Y: ..., Add: true, Workspace: ...}
//	err = quant.Multiply(s, m, x)                                // y += m x for each row of X
//
// Q4_0, Q4_1 and Q8_0 have kernels of their own, and so has Q4_K on GPUs. In the other formats, the numbers of planes and the bits of groups
// are arguments of kernels (the type fields): kernels for each format would add 1.2 MB of generated code.
//
// On a CPU, 16 vector lanes read a plane with one load. For three vectors or more, they convert a weight once for eight vectors.
//
// On a GPU, tensor cores multiply one bfloat16 vector by a matrix in the formats Q4_0, Q4_1, Q4_K and Q6_K (the kernel gemv). A lane loads 16
// bytes at once, which are 4 bytes of each of four rows, into registers. It selects two integers of these and sets the exponents that make
// them bfloat16 numbers, and it requests the weights of another chunk when it has multiplied one. The other operand of the tensor cores has
// the eight blocks of a chunk of the vector in eight columns, and zeros in all columns but those of the blocks at hand. After a chunk, each
// lane has the sums of one block for its four rows, to which scales and minima apply. The first requests precede the wait for the preceding
// kernel.
//
// In these formats, the kernel gemvNorm also normalizes the vector (RMSNorm), which it then takes as two bfloat16 numbers for each element. It
// stores the products (MultiplyNorm) or SwiGLU of them (GateNorm). A block of threads has the sums of its tiles in shared memory until it has
// multiplied all, or 16.
//
// Up to four vectors in other cases are multiplied by float32 instructions. A lane converts each weight once for all vectors: one instruction
// selects its bits and sets the exponent of 2^23, one subtracts 2^23, which is exact, and one for each vector multiplies and adds. The vectors
// are in shared memory, where a lane reads each quad once for four rows. A lane holds two units of 64 bytes, and requests another unit when
// it has multiplied one. A single vector may be normalized on its way to shared memory.
//
// In the formats Q4_0, Q4_1, Q8_0, Q4_K and Q6_K, tensor cores multiply 2 to 16 vectors, except a few float32 vectors. A weight costs half an
// instruction that selects two integers and sets the exponents that make them bfloat16 numbers, and half a shift. To remain exact, the
// product takes each float32 of a vector as three bfloat16 numbers of 8 bits. Scales and minima apply to the float32 sums of blocks or, in
// Q6_K, of half blocks. In Q4_K and Q6_K, a warp first multiplies the scales and minima of a superblock by its groups, once for all lanes.
// Weights arrive by asynchronous copies in a ring in shared memory.
//
// If the vectors do not fit in shared memory, blocks of threads take slices of the columns, which a second kernel adds up. For more than
// 64 vectors, or 16 in the formats without kernels for tensor cores, the weights are converted to bfloat16 for package gemm.
//
// MultiplyTransposed multiplies by the transpose of a matrix, for derivatives: it converts weights for package gemm.
package quant

//go:generate go tool kernelgen .
