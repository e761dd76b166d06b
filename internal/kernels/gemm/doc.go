// Package gemm multiplies matrices: C = activation(op(A) op(B) + bias) + residual, row-major, with any distance between rows. Sums are in
// float32. If the residual is C, the product is added to C.
//
//	shape := gemm.Shape{Layout: gemm.NT, M: m, N: 1536, K: 576} // the weights are 1536 x 576
//	work, err := device.Make[float32](s, gemm.Workspace(s.Device(), shape, gemm.None))
//	...
//	x := gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: tokens.All(), B: weights.All(), C: y.All(), Weights: true, Workspace: work.All()}
//	err = gemm.Half(s, shape, x)
//
// Half multiplies 16-bit elements, HalfTo32 with a float32 C, Float32 float32 elements, and Weights a float32 matrix by bfloat16 weights.
//
// On GPUs of compute capability 9.0, 16-bit elements are multiplied by warp-group products of panels: whole tiles by one block for each
// multiprocessor, or, if there are few tiles, equal shares of all tiles, whose sums a second kernel adds up. This needs rows that are
// multiples of 16 bytes apart. TFLOP/s of bfloat16 products on an H200, and the ratio to cuBLAS in the same run, with random operands
// (medians):
//
//	        NT            NN            TN
//	2048^3  706  (0.97)   698  (0.97)   698  (0.97)
//	4096^3  783  (0.99)   782  (0.99)   756  (1.00)
//	8192^3  745  (1.02)   719  (1.04)   710  (1.02)
//
// Other GPUs use warp products from compute capability 8.0 on, and float32 products without tensor cores. CPUs compute 65 to 86 GFLOP per
// CPU second in float32 with AVX-512.
package gemm

//go:generate go tool kernelgen .
