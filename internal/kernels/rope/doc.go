// Package rope rotates pairs of elements of queries and keys by angles that grow with their position (Su et al., "RoFormer:
// Enhanced Transformer with Rotary Position Embedding").
//
// The elements i and i + Rotary/2 of a head are a pair, which is the order of models in the format of Hugging Face; a file with
// the pairs 2i and 2i + 1 needs its rows of queries and keys permuted when it is loaded. Pair i turns by its token's position
// times frequency i, a product in float32.
//
// Angles computes the cosines and sines of the tokens of a step, which all layers use:
//
//	freq := rope.Frequencies(128, 500000, &rope.Scaling{Factor: 8, Low: 1, High: 4, Context: 8192}) // once, on the host
//	err := rope.Angles(s, positions, frequencies, angles)                                          // once for each step
//
//	shape := rope.Shape{Tokens: n, Heads: 32 + 8, Dim: 128, Stride: 48 * 128} // queries and keys of a stacked product
//	err = rope.Rotate(s, shape, qkv, angles)                                  // in each layer
//	err = rope.RotateBack(s, shape, dqkv, angles)                             // in each layer's backward pass
package rope

//go:generate go tool kernelgen .
