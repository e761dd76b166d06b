// Package faults has cases about kernels that panic: the text, the line, the block and the thread
// of every kind of panic, what happens to the other threads, and that the device continues to
// work.
//
//	for _, c := range faults.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package faults

//go:generate go tool kernelgen .
