// Package collective provides operations that all threads of a warp or block perform together in a kernel:
// reductions, scans, sorting and the exchange of elements. They have the semantics of CUB's block and warp
// primitives. Algorithms on whole arrays, which a program launches, are in package prim.
//
//	//gpu:kernel
//	//gpu:block 256
//	func sums(t gpu.Thread, x, out []float32) {
//		v := float32(0)
//		if i := t.GlobalX(); i < len(x) {
//			v = x[i]
//		}
//		if sum := collective.BlockReduce[collective.Sum[float32]](t, v); t.ThreadX() == 0 {
//			out[t.BlockX()] = sum
//		}
//	}
//
// All threads of the warp or block must call an operation, so no thread may exit before. Blocks may have up to three
// dimensions and any number of threads, so the last warp may be incomplete. The threads are ordered by their linear
// index in the block, in which x varies fastest. An operation on blocks ends with a barrier of the block, so it can be
// called repeatedly and in loops. Reductions and scans of blocks declare the shared memory that they need; all calls
// for the same type of values use the same memory.
package collective
