// Package numbers has cases about arithmetic: integers of every width, floats with their special
// values, conversions between all of them, package math and package math/bits.
//
//	for _, c := range numbers.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package numbers

//go:generate go tool kernelgen .
