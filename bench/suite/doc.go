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
//	report, err := suite.Run(ctx, dev, suite.Options{NVCC: suite.FindNVCC()})
//	err = report.WriteTable(os.Stdout)
//	err = report.WriteJSON(file)
//
// The package measures; it is no library of kernels to use. It does not measure other
// frameworks: bench/peers has scripts that do, whose results Report.Join adds to a report.
package suite
