// Package gonumblas multiplies gonum's matrices on a GPU. A gonum program moves to the GPU with one line for
// each precision:
//
//	impl, err := gonumblas.Open(0) // the first GPU, with cuBLAS
//	if err != nil { return err }
//	defer impl.Close()
//	blas64.Use(impl)               // used by mat.Dense and others
//	blas32.Use(impl)
//
// The GPU computes products of matrices, including symmetric and triangular matrices, and solves triangular systems.
// Each such call copies the operands to the GPU, computes there, copies the result back, and then returns. Operations
// on small matrices, and all vector operations, stay on the CPU, in gonum's own code, because the copies would take
// longer than the computation. Results differ from gonum's in the last bits, because the order of summation differs.
//
// Programs that keep their data on the GPU should use package cublas instead. BLAS functions return no errors. If the
// GPU fails, calls compute on the CPU, and Err returns the failure.
package gonumblas
