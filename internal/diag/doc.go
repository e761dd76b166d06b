// Package diag defines the diagnostics: errors in the user's program, each with a code, a
// position and advice, and the catalogue of all codes.
//
// The stages of a build collect their diagnostics in a List, which the user sees as a whole,
// sorted. A bug of the compiler is not a diagnostic: it panics with "BUG: ", and package
// compile recovers from the panic.
//
//	var found diag.List
//	found.Add(diag.New(pos, diag.KernelMethod, "kernel %s is a method", name).
//		WithHelp("write a function and pass the receiver as a parameter"))
//	if err := found.Err(); err != nil {
//		return err // kernels.go:12:6: kernel scale is a method (GW0021)
//	}
package diag
