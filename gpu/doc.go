// Package gpu holds the words that a kernel may use: which thread it is, shared memory,
// barriers, atomics, printing.
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
// word by an instruction. Nothing here launches kernels: package device does.
package gpu
