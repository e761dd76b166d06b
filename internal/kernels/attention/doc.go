// Package attention computes softmax(Q x K^T / sqrt(128)) x V for bfloat16 vectors of 128 elements on
// GPUs of compute capability 9.0, with sums in float32. It needs no workspace.
//
// The algorithm is that of Shah et al., "FlashAttention-3: Fast and Accurate Attention with
// Asynchrony and Low-precision" (2024). In each block, one warp group copies tiles of keys and
// values to shared memory, and two others compute 64 rows of results each. Scores and weights
// stay in registers: the weights are the left operand of the product with the values. The softmax is
// computed online, in base 2, and overlaps with the products of the previous tile.
//
//	err := attention.Forward(s, shape, attention.Operands{Q: q.All(), K: k.All(), V: v.All(), O: o.All()})
//
// TFLOP/s on an H200 beside PyTorch 2.11 in the same minutes, random operands, medians of 15 launches; the second
// number is with a causal mask, which leaves half of the operations (command bench/attention):
//
//	                      this      cuDNN     FlashAttention-2
//	4x32 heads, 2048   594, 468  620, 483   338, 273
//	1x32 heads, 8192   682, 626  665, 597   334, 311
//	4x32 heads, 8192   703, 658  635, 630   348, 328
package attention

//go:generate go tool kernelgen .
