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
// The comment "byte i of a half has weights i, i+32, i+64 and i+96" means that the first half of the field has weights 0 to 127, the second half
// has weights 128 to 255, and both are arranged alike: byte i of the second half has weights 128+i, 160+i, 192+i and 224+i. Likewise for
// quarters. The first weight of a byte is in its lowest bits.
package blocks
