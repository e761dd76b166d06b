// Package gpu provides the operations that a kernel may use: thread indices, shared memory,
// barriers, clusters of blocks, warp exchanges, atomic operations and fences, asynchronous copies,
// tensor cores, clocks, random numbers, assertions and printing.
//
// A kernel is an ordinary Go function whose first parameter is a Thread:
//
//	//gpu:kernel
//	func scale(t gpu.Thread, x []float32, by float32) {
//		if i := t.GlobalX(); i < len(x) {
//			x[i] *= by
//		}
//	}
//
// Every function of this package is plain Go code that runs on the CPU. For a GPU, the compiler
// either replaces a call by the corresponding instructions or compiles the Go code. This package
// does not launch kernels; package device does.
//
// A thread faults if it panics or fails a run-time check. A thread exits when it faults or returns
// from its kernel. A barrier or warp operation waits for all threads of the block or warp that have
// not exited. All of them must reach the same operation, so do not put a barrier or warp operation
// in a branch that only some threads take. (For warp operations of some lanes, see WarpSize.)
//
// There is no equivalent of CUDA's activemask, because the set of threads that happen to execute
// together differs between devices. Ballot(t, true) returns the set of threads of the warp that
// have not exited.
package gpu
