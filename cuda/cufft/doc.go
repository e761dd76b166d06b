// Package cufft transforms signals with NVIDIA's cuFFT, opened at run time where it is there: in 1
// to 3 dimensions, real and complex, in float32 and float64, many at once.
//
//	p, err := cufft.NewComplex[complex64](s, cufft.Shape{Dims: []int{1024}, Batch: 100})
//	if errors.Is(err, cufft.ErrNoLibrary) { ... } // the error says where it looked
//	defer p.Close()
//	err = p.Forward(x.All(), y.All()) // as often as you like: a plan is for reuse
//	err = p.Inverse(y.All(), x.All()) // 1024 times what x was
//	err = s.Synchronize(ctx)
//
// Signals are rows in the order of Go's arrays, the last dimension without gaps. Nothing is
// scaled: an inverse of a forward transform multiplies by the number of elements. Calls only
// enqueue work on the plan's stream, and allocate nothing. A stream that records gets the work
// into its graph (see On): close the plan after the graph.
//
// It computes nothing itself, and needs a device of package cuda.
package cufft
