// Package blocks defines the formats of quantized weights in GGUF files, as ggml-common.h and the Python package gguf define them. A block
// is 32 or 256 consecutive weights of a row.
//
//	var b blocks.Q4_K
//	if _, err := binary.Decode(data, binary.LittleEndian, &b); err != nil {
//		return err
//	}
//	w := b.Weights() // [256]float32
//
// On processors with little-endian byte order, a struct in memory has the same bytes as the block in a file, without padding. Weights
// rounds every product and sum to float32, in the order in which the Python package gguf computes them, so that its results have the same
// bits on every processor.
package blocks
