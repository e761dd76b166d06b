// Package harness measures kernels of this project and CUDA C++ kernels on the same arrays. It runs the cases of bench/suite and bench/public, which
// provide the kernels and their twins.
//
// A Case prepares its arrays on a Bench and returns its Work: launches of kernels and a check against plain Go. The twin of a kernel is a CUDA C++
// kernel that takes the same parameter block, so that both run in one process, on the same arrays, in turns. Without nvcc or without a GPU, only the
// kernels in Go run.
//
//	s := harness.Suite{Cases: cases, Twins: cudaSource}
//	r, err := harness.Run(ctx, dev, s, harness.Options{NVCC: harness.FindNVCC()})
//	err = r.WriteTable(os.Stdout)
//
// Before Run measures anything, it runs every kernel once and checks its outputs. Package harnesstest tests the cases of a suite without a GPU.
package harness
