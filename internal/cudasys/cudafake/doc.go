// Package cudafake is a CUDA driver made of Go, for tests without a GPU: devices, contexts,
// memory, streams, events and modules in memory, with failures on demand.
//
//	f := cudafake.New(cudafake.H200)
//	f.Execute = func(l *cudafake.Launch) cudasys.Status { ... } // what a kernel does
//	f.Fail("cuMemAlloc", 2, cudasys.OutOfMemory)                // the second call from here on
//	driver := f.Driver()
//
// It is stricter than the real driver: every call must be made with a live context current
// on the calling thread, and work is done only when its stream is asked whether it is ready,
// so that a missing wait shows. It knows no PTX: Execute stands for the kernels.
package cudafake
