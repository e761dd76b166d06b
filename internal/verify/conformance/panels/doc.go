// Package panels has the conformance cases of bulk copies, barriers in shared memory and
// products of panels, which GPUs of compute capability 9.0 have.
//
//	for _, c := range panels.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package panels

//go:generate go tool kernelgen .
