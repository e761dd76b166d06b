// Package generics has the conformance cases of kernels with type parameters: instances of the
// package's own and of another package's kernels, for numbers, structs, arrays and operations.
//
//	for _, c := range generics.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package generics

//go:generate go tool kernelgen .
