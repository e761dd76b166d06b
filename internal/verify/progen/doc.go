// Package progen generates random kernels: valid Go whose results are deterministic, so that a
// difference between two executions is a bug in one of them.
//
//	for i := range 1000 {
//		k := progen.New(seed, i)
//		fmt.Println(k.Name, k.Blocks, k.Threads, k.Source)
//	}
//	files := progen.Program(kernels) // a main package that runs them on two devices
//
// Kernels use all types and statements of the language, loops that terminate, indices that are mostly in range, shared memory,
// and barriers that all threads reach. NewLanes makes kernels with control flow for vector code; NewMixed, kernels with
// overlapping slices, closures with effects, three dimensions and barriers of the grid; NewBlocks, kernels with clusters, bulk
// copies and tensor cores; NewFused, kernels that sum products and compute error bounds. They avoid behaviour that Go does not
// define: conversions of floats that are out of range, the bits of a NaN, and whether a variable is read before or after a call
// that changes it.
//
// The package neither compiles nor runs kernels; its test does.
package progen
