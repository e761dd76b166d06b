// Package attentionback computes the derivatives of attention, of the sequences that package prefill attends to in training: those of
// queries, keys and values, from the derivative of the results.
//
//	err := prefill.Attend(s, shape, prefill.Operands[dtype.BF16]{Q: q, K: k, V: v, O: o, States: states, Spans: spans})
//	...
//	work, err := device.Make[float32](s, attentionback.Workspace[dtype.BF16](s.Device(), shape, rows))
//	err = attentionback.Backward(s, shape, attentionback.Operands[dtype.BF16]{
//		Q: q, K: k, V: v, O: o, States: states, Spans: spans, DO: do, DQ: dq, DK: dk, DV: dv, Workspace: work.All(),
//	})
//
// Forward replaces prefill.Attend on GPUs that have products of warp groups.
//
// Weights are not stored: P = exp(S - L) is computed again from scores S = Q x K^T / sqrt(dim), where L is the logarithm of the sum of the
// exponentials of a row, which the forward pass stores (Dao, "FlashAttention-2", 2023). With dP = dO x V^T and the product D of a row of O
// and the same row of dO,
//
//	dV = P^T x dO    dS = P * (dP - D)    dK = dS^T x Q / sqrt(dim)    dQ = dS x K / sqrt(dim)
//
// The order of all additions is fixed: no kernel adds to the same element from several blocks.
//
// On CPUs, a block takes a head of a sequence and goes through strips of 16 keys and 16 queries. Vector lanes are keys in S and dP, and
// elements of a row in the other products, so that all five products are loops of vector instructions whose left operands are scalars. The code
// is for float32; bfloat16 operands are converted. GFLOP per CPU second of the five products, with 9 heads of queries and 3 of keys, 1024
// tokens and a causal mask, on a busy machine with AVX-512: 44.
//
// On GPUs from compute capability 8.0 on, warp products multiply bfloat16 elements in two kernels. tiledKeys has a block for 64 keys, with dK and
// dV in registers, past which tiles of queries go; tiledQueries a block for 64 queries, with dQ in registers, past which tiles of keys go. Both
// compute S and dP: seven products instead of five, for a dQ that needs neither atomic additions nor float32 sums in memory. Of each tile,
// 32 columns are multiplied at a time, so that no sum leaves the registers (248 of them in tiledKeys for 128 dimensions). Both kernels compute
// products whose rows are those of the block: the accumulators of P^T or dS have the layout of a left operand.
//
// On GPUs of compute capability 9.0, groupedKeys and groupedQueries do the same for rows of 64 or 128 elements with products of warp groups, as
// Shah et al. describe in "FlashAttention-3" (2024). A block has 128 keys, or 128 queries. One of its warps copies tiles to shared memory, and
// two warp groups multiply, with P and dS from registers as left operands. The groups start their products in turns, so that one computes
// weights while the other one multiplies: without turns, 128 dimensions took up to 10 % longer. groupedForward computes the results in the same
// way: it multiplies the weights of a tile by values while it computes the scores of the next one.
//
// TFLOP/s of bfloat16 on an H200, with 16 heads and 8192 tokens, beside cuDNN in PyTorch 2.11, medians of 15 launches (command bench/attention
// with -back, and the file pytorch.py beside it; with 64 dimensions, cuDNN was measured in another run). Five products count, as is usual. The
// second number is with a causal mask, which leaves half of the operations:
//
//	dim  sequences    this      cuDNN
//	128  4 of 2048  409, 354  510, 380
//	128  1 of 8192  447, 430  589, 505
//	64   4 of 2048  290, 238  311, 225
//	64   1 of 8192  339, 306  398, 334
package attentionback

//go:generate go tool kernelgen .
