// Package blocks defines the formats of quantized weights in GGUF files, as ggml-common.h and the Python package gguf define them. A block is 32 or
// 256 consecutive weights of a row.
//
//	var b blocks.Q4_K
//	if _, err := binary.Decode(data, binary.LittleEndian, &b); err != nil {
//		return err
//	}
//	w := b.Weights() // [256]float32
//
// On processors with little-endian byte order, a struct in memory has the same bytes as the block in a file, without padding. On every
// processor, the methods named Weights return the same bits as the Python package gguf.
//
// The comments of fields say which weights a byte has; the first of them is in the lowest bits. For example, the field Q of Q2_K has the comment
// "byte i of a half has weights i, i+32, i+64 and i+96". So in the first half of the field, byte i has weights i, i+32, i+64 and i+96, and in the
// second half, byte i has weights 128+i, 160+i, 192+i and 224+i. The same applies to quarters.
package blocks
