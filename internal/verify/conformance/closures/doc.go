// Package closures has the conformance cases of functions that are values: arguments, results,
// captured variables, methods, iterators; of deferred calls, and of strings.
//
//	for _, c := range closures.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package closures

//go:generate go tool kernelgen .
