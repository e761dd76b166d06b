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
//	2048^3  706  (0.96)   708  (0.97)   707  (0.97)
//	4096^3  720  (0.99)   704  (1.00)   701  (1.01)
//	8192^3  745  (1.02)   719  (1.04)   710  (1.02)
//
// Products of few rows with layout NT, as in linear layers, have their own kernels. In a product of at most 16 rows, or of 32 if the
// result has few columns, weights go from memory to registers, and the warps of a block share K. In a product of at most 256 rows, weights
// are the rows of warp-group products, and the blocks of a cluster share K; this needs rows of C that are multiples of eight elements apart.
// From 65 rows on, if all tiles of 64 rows have a multiprocessor at the same time, two blocks receive the same weights by one copy instead.
// Both kernels request their first weights before the preceding kernel is done (Operands.Weights). Microseconds for the weights of an 8B
// model on an H200, and the ratio to the faster one of cublasLt and cublasGemmEx in the same run (medians):
//
//	    N      K  M=1           M=8           M=16          M=64          M=128         M=256
//	 6144   4096  14.1  (1.07)  15.3  (0.99)  16.5  (0.93)  17.6  (0.90)  16.6  (0.97)   21.9  (0.97)
//	 4096   4096   9.5  (1.34)  10.0  (1.24)  10.1  (1.26)  12.1  (0.93)  13.9  (0.96)   16.8  (1.01)
//	28672   4096  55.7  (1.00)  57.6  (0.96)  59.9  (0.93)  63.4  (0.95)  68.7  (0.96)  105.7  (0.94)
//	 4096  14336  27.6  (1.10)  28.8  (1.08)  29.3  (1.07)  35.0  (1.01)  38.1  (0.95)   53.1  (0.90)
//
// Other GPUs use warp products from compute capability 8.0 on, and float32 products without tensor cores. CPUs compute 65 to 86 GFLOP per
// CPU second in float32 with AVX-512.
package gemm

//go:generate go tool kernelgen .
