// Package compare compiles random kernels with this project's compiler and with Go's own, runs
// both, and says what differs: all that stands between package progen and a verdict.
//
//	c, err := compare.New(root) // of the repository
//	defer c.Close()
//	report, err := c.Kernels(ctx, kernels)
//	for name, how := range report.Wrong { ... }
//
// Go's compiler and the kernels that it made run in another process, at the same time as
// ours and the interpreter in this one. The interpreter runs the code for small launches on a new
// GPU and that for all launches on an old one, with all its checks.
package compare
