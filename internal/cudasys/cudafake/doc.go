// Package cudafake is a CUDA driver written in Go, for tests without a GPU. It implements devices, contexts,
// memory, streams, events and modules, and fails on demand.
//
//	f := cudafake.New(cudafake.H200)
//	f.Execute = func(l *cudafake.Launch) cudasys.Status { ... } // the work of a kernel
//	f.Fail("cuMemAlloc", 2, cudasys.OutOfMemory)                // the second call from now on
//	driver := f.Driver()
//
// It is stricter than the real driver: every call must be made with a live context current on the calling
// thread, and a stream does its work only when the program queries or waits for it, so that tests detect a
// missing wait. It does not execute PTX: Execute takes the place of the kernels.
package cudafake
