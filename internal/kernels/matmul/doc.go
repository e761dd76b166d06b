// Package matmul multiplies matrices of bfloat16 elements with sums in float32: C = A x B, all of them
// row-major.
//
// Each Version is a kernel of its own, from the simplest to the fastest, kept for comparison. Best selects the
// fastest one. The versions on tensor cores need rows of a multiple of eight elements; the others support any
// shape. Package gemm has the kernels for use in programs, and the next step of the ladder: blocks that stay and
// compute one tile after another.
//
//	err := matmul.Launch(s, matmul.Best(dev.Info().Capability, shape), shape, matmul.Operands{A: a.All(), B: b.All(), C: c.All()})
//
// Launch8 multiplies 8-bit elements, and Launch32 float32 elements without tensor cores, at 47 TFLOP/s, compared
// with 51 for cuBLAS.
//
// TFLOP/s on an H200, compared with cuBLAS within the same minute, with random operands (medians):
//
//	                  4096^3   8192^3
//	broad                294      325   mma.sync
//	groups               426      423   warp-group products of panels
//	roles                600      645   one warp group copies, two multiply
//	cuBLAS               771      663
//	Launch8             1396     1472
//	cuBLAS, 8 bits      1422     1370   sums in fewer bits; 1313 and 1253 otherwise
//
//gpu:ondemand
package matmul

//go:generate go tool kernelgen .
