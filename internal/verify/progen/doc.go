// Package progen writes random kernels: valid Go, whose result is the same on every
// execution, so that a difference between two of them is a mistake of one.
//
//	for i := range 1000 {
//		k := progen.New(seed, i)
//		fmt.Println(k.Name, k.Blocks, k.Threads, k.Source)
//	}
//	files := progen.Program(kernels) // a main package that runs them on two devices
//
// Kernels have all the types and statements of the language, loops that end, indices that are
// mostly in range, shared memory and barriers where all threads come by. NewLanes makes kernels of control flow for
// vector code, NewMixed those of overlapping slices, closures with effects, three dimensions and barriers of the grid. All keep away
// from what Go leaves open: conversions of floats that do not fit, the bits of a NaN,
// the order of a call and the variables that it changes.
//
// The package knows no compiler and runs nothing; its test does.
package progen
