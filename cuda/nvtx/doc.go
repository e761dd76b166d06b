// Package nvtx names stretches of a program for NVIDIA's profilers: Nsight Systems shows them above
// the kernels, and Nsight Compute can choose the kernels of one.
//
//	tx, err := nvtx.Start(os.Getenv(nvtx.Variable))
//	...
//	epoch := tx.Range("epoch 3")
//	...
//	epoch.End() // by any goroutine
//
// It needs no library: a profiler brings its own and names it in the environment. Where the
// program is not profiled, everything here does nothing and takes a nanosecond.
//
// For pictures without NVIDIA's tools see package trace.
package nvtx
