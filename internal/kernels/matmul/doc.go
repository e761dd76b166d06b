// Package matmul multiplies matrices of bfloat16 numbers with sums in float32: C = A x B, all
// of them row by row.
//
// It is a ladder: each Version is a kernel of its own, kept to be timed beside the others.
// Best picks the one to use. The versions on tensor cores need rows of a multiple of eight
// elements; the others take any shape.
//
//	err := matmul.Launch(s, matmul.Best(dev.Info().Capability, shape), shape, matmul.Operands{A: a.All(), B: b.All(), C: c.All()})
//
// Fused is Resident for batches, with a bias and an activation; F16 does float16 numbers, Launch8 such of eight bits,
// Launch32 float32 without tensor cores, at 47 TFLOP/s, where cuBLAS has 51.
//
// TFLOP/s on an H200 beside cuBLAS in the same minute, operands random, medians:
//
//	                  4096^3   8192^3
//	broad                294      325   mma.sync
//	groups               426      423   products of panels
//	roles                600      645   a warp group copies, two multiply
//	resident             745      737   a block a multiprocessor, bulk stores
//	cuBLAS               771      663
//	Launch8             1396     1472
//	cuBLAS, 8 bits      1422     1370   sums in fewer bits; 1313 and 1253 without
package matmul

//go:generate go tool kernelgen .
