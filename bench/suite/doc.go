// Package suite measures kernels written the way a Go newcomer writes them, and the same algorithms in CUDA C++.
//
// Each case has one or more kernels in Go, random inputs and a check against plain Go. The file twins.cu has the same kernels in CUDA C++: for each
// kernel a literal twin, translated line by line, and often a best twin, as an expert writes it. Most best twins have a counterpart in Go, a tuned
// kernel whose name ends with Best. bench/harness runs the cases:
//
//	set := peers.Start(ctx, peers.Options{NVCC: harness.FindNVCC()})
//	defer set.Close()
//	r, err := suite.Run(ctx, dev, harness.Options{NVCC: harness.FindNVCC(), Peers: set})
//	err = r.WriteTable(os.Stdout)
//
// The functions of package prim are compared with CUB, and the matrix products of internal/kernels with cuBLAS. Package bench/peers compares with
// other frameworks.
//
// The package only measures: it is not a library of kernels.
//
//gpu:ondemand
package suite
