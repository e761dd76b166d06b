// Package gpu holds the words that a kernel may use: which thread it is, shared memory,
// barriers, clusters of blocks, exchange within a warp, atomics and fences, asynchronous copies, clocks, random
// numbers, assertions, printing.
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
// Everything here is plain Go that runs on the CPU; for a GPU the compiler replaces each
// word by an instruction, or compiles it as it stands here. Nothing here launches kernels:
// package device does.
//
// A thread that has faulted or returned is waited for by nobody: not at barriers, nor in the
// exchanges of a warp. The words that wait must be reached by all others that they wait for,
// so none stands in a branch that these take differently.
//
// There is no word for the threads that happen to run together at a moment (the activemask of
// CUDA): it would be another answer on each device. Ballot(t, true) is the threads of the warp
// that have not left.
package gpu
