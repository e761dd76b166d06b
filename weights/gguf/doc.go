// Package gguf reads and writes GGUF files, the format of llama.cpp. It supports versions 2 and 3, metadata of all types, tensors of all
// types of ggml, and models that are split into several files.
//
//	f, err := gguf.Open("SmolLM2-135M-Instruct.Q4_1.gguf")
//	defer f.Close()
//	layers, err := f.Metadata.Int("llama.block_count")
//	tokens, err := weights.Get[[]string](f.Metadata, "tokenizer.ggml.tokens")
//	t, err := f.Tensor("blk.0.attn_q.weight")         // t.Type() is Q4_1, t.Shape() is [576 576]
//	data, err := t.Bytes()
//	w := make([]float32, t.Len())
//	err = gguf.Dequantize(t.Type(), w, data)
//
// Shapes have the outermost dimension first, as in PyTorch; files have the opposite order. Big-endian files and version 1 are not supported.
//
// The format is specified in docs/gguf.md of the ggml repository. Like llama.cpp, the reader also requires that names and keys are unique,
// that offsets are aligned, and that tensors do not overlap.
package gguf
