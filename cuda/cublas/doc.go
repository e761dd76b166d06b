// Package cublas multiplies matrices with NVIDIA's cuBLAS. It opens the library at run time.
//
//	h, err := cublas.New(s)                     // for the stream s of a GPU
//	if errors.Is(err, cublas.ErrNoLibrary) { ... } // the error lists where the package looked
//	defer h.Close()
//	err = cublas.Gemm(h, cublas.Product[float32]{
//		Alpha: 1, A: cublas.Matrix[float32]{Rows: m, Cols: k, Data: a.All()},
//		B: cublas.Matrix[float32]{Rows: k, Cols: n, Data: b.All()},
//		C: cublas.Matrix[float32]{Rows: m, Cols: n, Data: c.All()},
//	})
//	err = s.Synchronize(ctx)
//
// Matrices are row-major, as in Go and gonum. Calls only enqueue work on the handle's stream, and allocate
// nothing. After an error, later calls on the stream return this error until Synchronize has returned it, as
// after a failed launch. Scalar results (Dot, Norm) are stored in device memory, so no call waits. If the stream
// records a graph, the graph records the work. Close the graph before the handle.
//
// The function Fuse plans products with a bias and an activation; cuBLASLt computes each product in one kernel. The
// elements of the operands may have 8 bits.
//
// The package needs cuBLAS and a device of package cuda.
package cublas
