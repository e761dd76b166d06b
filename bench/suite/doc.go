// Package suite measures kernels written the way a Go newcomer writes them, beside the same
// algorithms in CUDA C++.
//
// Each case has a kernel or a few in Go, random inputs, a check against plain Go, and in
// twins.cu the same kernels in CUDA C++: a literal twin, line by line, and where there is
// more to gain one as an expert writes it, with wide loads, shuffles and unrolled loops. Most of
// these have a counterpart in Go too, a tuned kernel whose name ends with Best. A case's ratio is
// that of the faster of our kernels to the faster of the twins. The twins
// take our kernels' parameter blocks, so that they run in the same process, on the same
// buffers, in turns with ours. They need nvcc; without it, or without a GPU, only ours run.
//
//	set := peers.Start(ctx, peers.Options{NVCC: suite.FindNVCC()})
//	defer set.Close()
//	r, err := suite.Run(ctx, dev, suite.Options{NVCC: suite.FindNVCC(), Peers: set})
//	err = r.WriteTable(os.Stdout)
//
// Package prim and the products of internal/kernels/matmul are cases too, without twins: beside CUB, and beside
// cuBLAS on the same operands. Other frameworks take part by bench/peers, in turns with ours, a run each.
//
// The package measures; it is no library of kernels to use. What was measured is a report.Report.
//
//gpu:ondemand
package suite
