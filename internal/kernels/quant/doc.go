// Package quant multiplies matrices of quantised weights by a vector of float32 numbers.
//
// The formats are llama.cpp's, as ggml-common.h and the Python package gguf define them. A block is 32 consecutive weights of a
// row:
//
//   - Q4_1: an F16 scale d, an F16 minimum m, and 16 bytes, whose lower four bits are weights 0 to 15 and whose upper four bits
//     are weights 16 to 31. Each weight is d*q + m.
//   - Q8_0: an F16 scale d and 32 signed bytes. Each weight is d*q.
//
// Kernels read a repacked layout, the same on CPUs and GPUs. A tile is 16 rows. For each block of the rows of a tile, the tile
// has planes of 16 integers of 32 bits, one for each row: plane j is bytes 4j to 4j+3 of the blocks. So 16 vector lanes of a CPU
// read a plane with one load, and a warp of a GPU reads 512 consecutive bytes with 16 bytes for each thread:
//
//	p, err := quant.PackQ4(blocks, shape)      // []quant.BlockQ4, as in the file
//	m := quant.DeviceQ4{Shape: p.Shape, ...}   // uploaded
//	err = m.Multiply(s, quant.Tiles, v)        // v.Y = m v.X
package quant

//go:generate go tool kernelgen .
