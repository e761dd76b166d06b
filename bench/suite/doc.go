// Package suite measures kernels written the way a Go newcomer writes them, and the same
// algorithms in CUDA C++.
//
// Each case has one or more kernels in Go, random inputs and a check against plain Go. The file twins.cu has the same kernels in CUDA C++:
// for each kernel a literal twin, translated line by line, and often a best twin, as an expert writes it, with wide loads, shuffles and
// unrolled loops. Most best twins have a counterpart in Go, a tuned kernel whose name ends with Best. A case's ratio is the speed of the
// faster of our kernels divided by that of the faster of the twins. bench/harness runs the cases.
//
//	set := peers.Start(ctx, peers.Options{NVCC: harness.FindNVCC()})
//	defer set.Close()
//	r, err := suite.Run(ctx, dev, harness.Options{NVCC: harness.FindNVCC(), Peers: set})
//	err = r.WriteTable(os.Stdout)
//
// The functions of package prim and the matrix products of internal/kernels/gemm and internal/kernels/matmul are cases, too. They have no twins.
// The functions of prim are compared with CUB, and the matrix products with cuBLAS on the same operands. Other frameworks take part through
// bench/peers.
//
// The package is not a library of kernels: it only measures. The result is a report.Report.
//
//gpu:ondemand
package suite
