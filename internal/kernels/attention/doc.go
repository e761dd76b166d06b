// Package attention computes softmax(Q x K^T * scale) x V for bfloat16 tensors on GPUs of compute
// capability 9.0, with sums in float32 and without memory for the scores.
//
// The algorithm is that of Shah et al., "FlashAttention-3: Fast and Accurate Attention with
// Asynchrony and Low-precision" (2024): a warp group copies tiles by bulk copies, two others
// compute 64 rows each. Their scores and weights stay in registers, the softmax is
// computed online in base 2, the products of one tile run during the softmax of another, and the
// two warp groups take turns at the tensor cores.
//
//	err := attention.Forward(s, shape, attention.Operands{Q: q.All(), K: k.All(), V: v.All(), O: o.All()})
package attention

//go:generate go tool kernelgen .
