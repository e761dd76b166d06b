// Package faults has cases about kernels that panic: the text, the line, the block and the thread
// of every kind of panic, what happens to the threads beside, and that the device works on.
//
//	for _, c := range faults.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package faults

//go:generate go tool kernelgen .
