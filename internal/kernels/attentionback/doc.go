// Package attentionback computes the derivatives of attention with respect to queries, keys and values, for sequences
// that package prefill attends to in training.
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
// Weights are not stored: P = exp(S - L) is computed again from the scores S = Q x K^T / sqrt(dim). L is the logarithm
// of the sum of the exponentials of a row, which the forward pass stores (Dao, "FlashAttention-2", 2023). D is the
// product of a row of O and the same row of dO. With dP = dO x V^T,
//
//	dV = P^T x dO    dS = P * (dP - D)    dK = dS^T x Q / sqrt(dim)    dQ = dS x K / sqrt(dim)
//
// The order of all additions is fixed: no kernel adds to the same element from several blocks.
//
// On CPUs, a block takes a head of a sequence and goes through strips of 16 keys and 16 queries. Vector lanes are keys
// in S and dP, and elements of a row in the other products. The code is for float32; bfloat16 operands are converted.
//
// On GPUs from compute capability 8.0 on, warp products multiply bfloat16 elements in two kernels. A block of tiledKeys
// has 64 keys, with dK and dV in registers, and loops over tiles of queries. A block of tiledQueries has 64 queries,
// with dQ in registers, and loops over tiles of keys. Both compute S and dP. These are seven products instead of five,
// but dQ needs neither atomic additions nor float32 sums in memory.
//
// On GPUs of compute capability 9.0, groupedKeys and groupedQueries do the same for rows of 64 or 128 elements with
// products of warp groups, as Shah et al. describe in "FlashAttention-3" (2024). A block has 128 keys, or 128 queries.
// One of its warps copies tiles to shared memory, and two warp groups multiply, with P and dS from registers as left
// operands. The groups start their products in turns, so that one computes weights while the other one multiplies.
// groupedForward computes the results of attention in the same way.
//
// TFLOP/s of bfloat16 on an H200, with 16 heads and 8192 tokens, beside cuDNN in PyTorch 2.11, medians of 15 launches
// (command bench/attention with -back, and the file pytorch.py beside it; with 64 dimensions, cuDNN was measured in
// another run). Five products count, as is usual. The second number is with a causal mask, which leaves half of the
// operations:
//
//	dim  sequences    this      cuDNN
//	128  4 of 2048  409, 354  510, 380
//	128  1 of 8192  447, 430  589, 505
//	64   4 of 2048  290, 238  311, 225
//	64   1 of 8192  339, 306  398, 334
package attentionback

//go:generate go tool kernelgen .
