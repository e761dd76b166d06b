// Package words has cases about printing, random numbers, small floats, clocks, and about
// launches: grids of every shape, limits, slices of buffers, order within a stream.
//
//	for _, c := range words.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package words

//go:generate go tool kernelgen .
