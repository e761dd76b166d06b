// Package gonumblas multiplies gonum's matrices on a GPU. A gonum program moves to the GPU with one line for
// each precision:
//
//	impl, err := gonumblas.Open(0) // the first GPU, with cuBLAS
//	if err != nil { return err }
//	defer impl.Close()
//	blas64.Use(impl)               // used by mat.Dense and others
//	blas32.Use(impl)
//
// For products of matrices, including symmetric and triangular ones, and for triangular systems, a call
// copies the operands to the GPU, computes there and copies the result back; like gonum's own functions, it
// returns when the result is in place. Operations that would take longer to copy than to compute stay on the
// CPU, in gonum's own code: those on small matrices, and all vector operations. Results differ from gonum's
// in the last bits, because the order of summation differs.
//
// Programs that keep their data on the GPU should use package cublas instead. BLAS functions return no
// errors: if the GPU fails, the CPU does the work, and Err returns the failure.
package gonumblas
