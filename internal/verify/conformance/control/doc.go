// Package control has cases about the order in which a kernel does things: branches, loops,
// labels, values that a loop exchanges, the order of evaluation.
//
//	for _, c := range control.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package control

//go:generate go tool kernelgen .
