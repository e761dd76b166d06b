// Package gonumblas has gonum's matrices multiplied on a GPU. A gonum program moves with one line
// for each precision:
//
//	impl, err := gonumblas.Open(0) // the first GPU, with cuBLAS
//	if err != nil { return err }
//	defer impl.Close()
//	blas64.Use(impl)               // what mat.Dense and the like call
//	blas32.Use(impl)
//
// Products of matrices, symmetric and triangular ones too, and triangular systems are copied to the
// GPU, computed there and copied back; each call returns with its result in place, as gonum's own
// do. What would take longer to copy than to compute stays on the CPU, in gonum's own code: small
// matrices, and all of vectors. Results differ from gonum's in the last bits, because sums have
// another order.
//
// It is no array library: programs that keep their data on the GPU use package cublas. BLAS
// has no errors: where the GPU fails, the CPU does the work, and Err says so.
package gonumblas
