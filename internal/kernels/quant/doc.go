// Package quant multiplies matrices of quantised weights by a vector of float32 numbers.
//
// The formats are Q4_1 and Q8_0 of package weights/blocks. A block is 32 consecutive weights of a row.
//
// Kernels read a repacked layout, the same on CPUs and GPUs. A tile is 16 rows. For each block of the rows of a tile, the tile
// has planes of 16 integers of 32 bits, one for each row: plane j is bytes 4j to 4j+3 of the blocks. So 16 vector lanes of a CPU
// read a plane with one load, and a warp of a GPU reads 512 consecutive bytes with 16 bytes for each thread:
//
//	p, err := quant.PackQ4(blocks, shape)      // []blocks.Q4_1, as in the file
//	m := quant.DeviceQ4{Shape: p.Shape, ...}   // uploaded
//	err = m.Multiply(s, quant.Tiles, v)        // v.Y = m v.X
package quant

//go:generate go tool kernelgen .
