// Package norm normalizes the rows of matrices: RMSNorm and LayerNorm, after the addition of a residual if there is one. Elements
// are float32, dtype.BF16 or dtype.F16; weights, biases and all arithmetic are float32.
//
//	shape := norm.Shape{Rows: tokens, Columns: 4096}
//	err := norm.RMSNorm(s, shape, 1e-5, norm.Operands[dtype.BF16]{X: x, Y: y, Weight: w})
//
//	// residual = x + residual; y = RMSNorm(residual)
//	err = norm.RMSNorm(s, shape, 1e-5, norm.Operands[dtype.BF16]{X: x, Residual: residual, Sum: residual, Y: y, Weight: w})
//
// Their derivatives are computed from the same rows, which need not be normalized again:
//
//	err = norm.RMSNormBack(s, shape, 1e-5, norm.Gradients[dtype.BF16]{X: x, DY: dy, DX: dx, Weight: w, DWeight: dw, Workspace: work})
//
// Functions launch kernels and return; they allocate nothing. On a GPU, some lanes of a warp or a
// block take a row, and keep up to 64 KiB of it in shared memory between its uses. On the CPU, 16 lanes do. For elements of 16 bits,
// there is no fast code for CPUs: convert rows to float32 there.
package norm

//go:generate go tool kernelgen .
