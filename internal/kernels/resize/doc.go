// Package resize computes a square of a resized picture, normalized for a network, with the bits of Pillow's resize from version 13 on.
//
//	// columns and rows are windows of the resized picture's axes
//	p := resize.Picture{Pixels: pixels.All(), Along: 1, Across: width}
//	n := resize.Normalization{Mean: [3]float32{0.485, 0.456, 0.406}, Deviation: [3]float32{0.229, 0.224, 0.225}}
//	err := resize.Square(s, resize.Operands{Picture: p, First: columns, Second: rows, Lines: lines.All(), Out: out.All(), Down: resize.Side, Right: 1, Normalization: n})
//
// The first pass resizes one axis of the picture, and the second one the other axis of its result, whose colors are rounded to bytes.
// Square allocates nothing and may be recorded in a graph.
package resize

//go:generate go tool kernelgen .
