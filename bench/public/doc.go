// Package public measures programs of Rodinia, PolyBench-GPU, SHOC, Parboil, the CUDA samples and numba's documentation, and compares each with the
// same program in CUDA C++. The list was fixed before any program was measured.
//
// Each program has a file with its kernels in Go, its inputs and a check against plain Go, and a .cu file with the same kernels in CUDA C++. Both
// versions are new code in the plain style of these suites, with the blocks, the shared memory and the barriers of the original. bench/harness runs
// them:
//
//	r, err := public.Run(ctx, dev, harness.Options{NVCC: harness.FindNVCC()})
//	err = r.WriteTable(os.Stdout)
//
// The package only measures: it is not a library of kernels.
//
//gpu:ondemand
package public
