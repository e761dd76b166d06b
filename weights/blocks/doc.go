// Package blocks defines the formats of quantized weights in GGUF files, as ggml-common.h and the Python package gguf define them. A block is 32 or
// 256 consecutive weights of a row.
//
//	var b blocks.Q4_K
//	if _, err := binary.Decode(data, binary.LittleEndian, &b); err != nil {
//		return err
//	}
//	w := b.Weights() // [256]float32
//
// On processors with little-endian byte order, a struct in memory has the same bytes as the block in a file, without padding. The methods named
// Weights return the same bits on every processor, which are those of the Python package gguf.
//
// Some field comments divide a field and the block's weights into halves or quarters: each part of the field has the bits of the same part of the
// weights. The numbers of bytes and weights count from the start of the part, and the first weight of a list is in the lowest bits of the byte. For
// example, "byte i of a half has weights i, i+32, i+64 and i+96" means that byte 32+i of the field has weights 128+i, 160+i, 192+i and 224+i.
package blocks
