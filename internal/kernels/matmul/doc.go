// Package matmul multiplies matrices of bfloat16 numbers with sums in float32: C = A x B, all
// of them row by row.
//
// It is a ladder: each Version is a kernel of its own, kept to be timed beside the others.
// Best picks the one to use. The versions on tensor cores need rows of a multiple of eight
// elements; the others take any shape.
//
//	err := matmul.Launch(s, matmul.Best(shape), shape, matmul.Operands{A: a.All(), B: b.All(), C: c.All()})
//
// On an H200, where cuBLAS reaches 765 TFLOP/s at 8192^3 by wgmma, mma.sync can reach about
// two thirds of the tensor cores' rate: Wide should come to 450 to 500 TFLOP/s, Pipelined,
// which is bound by what it reads from shared memory, to 350 to 400.
package matmul

//go:generate go tool gopherwarp build .
