// Package cublas multiplies matrices with NVIDIA's cuBLAS, opened at run time where it is there.
//
//	h, err := cublas.New(s)                     // for the stream s of a GPU
//	if errors.Is(err, cublas.ErrNoLibrary) { ... } // the error says where it looked
//	defer h.Close()
//	err = cublas.Gemm(h, cublas.Product[float32]{
//		Alpha: 1, A: cublas.Matrix[float32]{Rows: m, Cols: k, Data: a.All()},
//		B: cublas.Matrix[float32]{Rows: k, Cols: n, Data: b.All()},
//		C: cublas.Matrix[float32]{Rows: m, Cols: n, Data: c.All()},
//	})
//	err = s.Synchronize(ctx)
//
// Matrices have their rows one behind the other, as Go's and gonum's have. Calls only enqueue
// work on the handle's stream, and allocate nothing; errors stick to the stream as those of
// launches do. Results that are numbers (Dot, Norm) go to the device's memory, so that nothing
// waits. A stream that records gets the work into its graph: close the handle after the graph.
//
// Fuse plans products with a bias and an activation, also of numbers of 8 bits, by cuBLASLt.
//
// It computes nothing itself, and needs a device of package cuda.
package cublas
