// Package attention computes softmax(Q x K^T / sqrt(dim)) x V: Forward for whole sequences, and Cache.Attend with keys and values of
// earlier tokens, as decoding does. Sums are float32.
//
// # Whole sequences
//
// Forward is for bfloat16 vectors of 128 elements on GPUs of compute capability 9.0. It needs no workspace.
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
//
// Prefill takes sequences of different lengths, whose keys and values are rows, or pages of a cache, and any dimension, element and
// device: those of Forward by a kernel that is Forward's for spans, others by package prefill. TFLOP/s of 32 heads of queries and 8 of keys
// with a causal mask (bench/attention with -packed, PyTorch in another run on the same GPU):
//
//	                            this      cuDNN   FlashAttention-2
//	4 sequences of 2048          374       483     273
//	one of 8192                  592       609     317
//	16 of 44 to 1932, in pages   276
//	1024 after 7168, in pages    557
//
// # Cached keys and values
//
// A Cache has keys and values in pages of 64 tokens, of any element type of package row, for any device. Store or StoreRotated adds
// tokens, Attend computes the results of queries at any positions of any sequences:
//
//	c := attention.Cache[dtype.BF16]{CacheShape: shape, Keys: k.All(), Values: v.All(), Table: table.All()}
//	err := c.StoreRotated(s, attention.Turn[dtype.BF16]{Heads: 32, Q: q, K: keys, V: values, Rotated: q, Angles: angles, Tokens: tokens})
//	err = c.Attend(s, attention.Queries[dtype.BF16]{Heads: 32, Q: q, O: o, Tokens: tokens, Scratch: scratch})
//
// On a GPU, several blocks share the tokens of a sequence, as Dao et al., "Flash-Decoding for long-context inference" (2023), describe,
// if there are few sequences. A second kernel then joins their results. A block reads keys and values once for up to eight heads. For
// vectors of 64 or 128 elements of two bytes it multiplies on tensor cores, from compute capability 8.0 on; it rounds weights to
// elements then. On a CPU, the lanes of a vector unit are neighbouring tokens.
//
// A Compact is a Cache of 8-bit floats, in about half the memory of bfloat16. On GPUs, Attend reads them, and converts them in registers;
// Prefill first converts the pages that it needs, in memory that caches share. On CPUs, Attend does that too, for all pages of a sequence.
package attention

//go:generate go tool kernelgen .
