// Package values has cases about what a kernel keeps values in: structs, arrays, slices, pointers,
// constant tables; and about functions: methods, generic ones, closures, those of other packages.
//
//	for _, c := range values.Cases() {
//		wrong := c.On(ctx, dev)
//	}
//
//gpu:ondemand
package values

//go:generate go tool kernelgen .
