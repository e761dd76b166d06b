// Package nvtx marks named ranges of a program for NVIDIA's profilers: Nsight Systems shows them above the
// kernels, and Nsight Compute can select the kernels of a range.
//
//	tx, err := nvtx.Start(os.Getenv(nvtx.Variable))
//	...
//	epoch := tx.Range("epoch 3")
//	...
//	epoch.End() // on any goroutine
//
// The profiler supplies the library that the package calls, and names it in an environment variable. If no profiler is
// attached, every call does nothing and takes a nanosecond.
//
// For timelines without NVIDIA's tools, see package trace.
package nvtx
