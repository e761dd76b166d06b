// Package blockstest makes random blocks of quantized weights for tests.
//
//	data := blockstest.Random(r, "Q4_K", 0.2) // a block as in a file
//	var b blocks.Q4_K
//	_, err := binary.Decode(data, binary.LittleEndian, &b)
package blockstest
