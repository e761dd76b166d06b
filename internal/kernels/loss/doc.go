// Package loss computes the cross-entropy of rows of scores, such as a model's logits for the next token, and its derivative.
//
//	shape := loss.Shape{Rows: tokens, Columns: vocabulary}
//	x := loss.Operands[dtype.BF16]{X: logits, Labels: labels, Losses: losses, DX: logits, Scale: 1 / float32(count)}
//	err := loss.CrossEntropy(s, shape, x)
//
// The derivative may replace the scores, so that a model's logits can be computed, and turned into derivatives of its last layer, for a part of the
// rows at a time (Hsu et al., "Liger Kernel: Efficient Triton Kernels for LLM Training"): they are never all in memory.
//
// On a GPU, a block takes a row, which it reads twice, the second time from a cache. On the CPU, 16 lanes do. Exponentials are fast ones on a GPU.
package loss

//go:generate go tool kernelgen .
