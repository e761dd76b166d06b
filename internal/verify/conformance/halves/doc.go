// Package halves has the conformance cases of the small floats of package dtype: conversions
// of every F16 and BF16, of every 8-bit float, roundings between their numbers, printing.
//
//	for _, c := range halves.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package halves

//go:generate go tool kernelgen .
