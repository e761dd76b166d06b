// Package prefill computes attention, softmax(Q x K^T / sqrt(dim)) x V, of tokens whose keys and values are at hand together: in training,
// and where a model reads a prompt, at once or in chunks. Sequences may have different lengths. Their keys and values are rows, or pages
// of a cache.
//
//	// two sequences of 100 and 37 tokens
//	spans, err := device.Upload(s, []prefill.Span{{Row: 0, Count: 100, Keys: 0}, {Row: 100, Count: 37, Keys: 100}})
//	...
//	shape := prefill.Shape{Heads: 32, KeyHeads: 8, Dim: 64, Causal: true}
//	err = prefill.Attend(s, shape, prefill.Operands[dtype.BF16]{Q: q.All(), K: k.All(), V: v.All(), O: o.All(), Spans: spans.All()})
//
// On GPUs from compute capability 8.0 on, 16-bit elements are multiplied by warp products as in FlashAttention-2. Other elements and other
// devices take a thread for each query. Attend allocates nothing and may be recorded in a graph: only the number of spans and the size of
// Q are fixed then. Package attention has a faster kernel for some operands on GPUs of compute capability 9.0.
//
// TFLOP/s of bfloat16 on an H200, with 32 heads of queries and 8 of keys and a causal mask, beside FlashAttention-2 in PyTorch 2.11, random
// operands, medians of 15 launches (command bench/attention with -packed). The last row has 1024 queries after 7168 tokens in pages in
// random order, which PyTorch's function does not take:
//
//	dim                      128            64          96          80         32
//	4 sequences of 2048   253 (273)   203 (233)
//	one of 8192           309 (317)   249 (270)   266 (303)   217 (242)   170 (186)
//	1024 after 7168       309         250
package prefill

//go:generate go tool kernelgen .
