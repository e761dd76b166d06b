// Package blocks defines the formats of quantized weights in GGUF files, as ggml-common.h and the Python package gguf define them. A block
// is 32 or 256 consecutive weights of a row.
//
//	var b blocks.Q4_K
//	if _, err := binary.Decode(data, binary.LittleEndian, &b); err != nil {
//		return err
//	}
//	w := b.Weights() // [256]float32
//
// On processors with little-endian byte order, a struct in memory has the same bytes as the block in a file, without padding. The methods
// named Weights compute products and sums in the same order as the Python package gguf, and round each to float32. So the results have the
// same bits on every processor.
package blocks
