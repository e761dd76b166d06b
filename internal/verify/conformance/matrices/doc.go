// Package matrices has the conformance cases of tensor cores and of the operations that load
// their operands: loads of tiles, products of 16-bit floats, asynchronous copies.
//
//	for _, c := range matrices.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package matrices

//go:generate go tool kernelgen .
