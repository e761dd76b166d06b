// Package threads has cases about threads that work together: indices, shared memory, barriers,
// reductions, atomic operations, operations of warps.
//
//	for _, c := range threads.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package threads

//go:generate go tool kernelgen .
