// Package diag holds the errors that a user of the compiler can cause: what one looks
// like, and the catalogue that numbers them.
//
// Every stage of a build adds to one List, which is shown whole and sorted. Errors of the
// compiler itself are no diagnostics: they panic with "BUG: " and are caught by package
// compile.
//
//	var found diag.List
//	found.Add(diag.New(pos, diag.KernelMethod, "kernel %s is a method", name).
//		WithHelp("write a function and hand the receiver over as a parameter"))
//	if err := found.Err(); err != nil {
//		return err // kernels.go:12:6: kernel scale is a method (GW0021)
//	}
package diag
