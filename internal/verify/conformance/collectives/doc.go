// Package collectives has the conformance cases of package gpu/collective.
//
//	for _, c := range collectives.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package collectives

//go:generate go tool kernelgen .
