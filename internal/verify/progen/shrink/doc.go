// Package shrink makes random kernels smaller, so that a bug that one of them shows is easy to see.
//
//	small, err := shrink.Kernel(k, func(tried []progen.Kernel) (failed []bool, err error) {
//		report, err := comparer.Kernels(ctx, tried)
//		for _, how := range report.Wrong {
//			failed = append(failed, how != "")
//		}
//		return failed, err
//	})
//
// The package cuts statements and expressions from a kernel's source, and checks the types of what remains. It neither compiles nor runs
// kernels.
package shrink
