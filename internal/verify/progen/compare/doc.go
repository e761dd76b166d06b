// Package compare compiles random kernels with this project's compiler and with the Go compiler,
// runs both, and reports differences.
//
//	c, err := compare.New(root) // of the repository
//	defer c.Close()
//	report, err := c.Kernels(ctx, kernels)
//	for name, how := range report.Wrong { ... }
//
// The Go compiler and its kernels run in another process, concurrently with this project's compiler
// and the interpreter. The interpreter runs the narrow variants as a new GPU and the wide variants
// as an old one, with all its checks.
//
// Kernels expects kernels that compile. Judge compiles kernels that the compiler may refuse, and
// returns its diagnostics. It runs no kernel.
package compare
