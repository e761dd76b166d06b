// Package cufft computes Fourier transforms with NVIDIA's cuFFT, which it opens at run time. The
// transforms are real or complex, in one to three dimensions, in float32 or float64. One call can
// transform many signals.
//
//	p, err := cufft.NewComplex[complex64](s, cufft.Shape{Dims: []int{1024}, Batch: 100})
//	if errors.Is(err, cufft.ErrNoLibrary) { ... } // the error lists where the package looked
//	defer p.Close()
//	err = p.Forward(x.All(), y.All()) // plans can be reused any number of times
//	err = p.Inverse(y.All(), x.All()) // x is now 1024 times its original value
//	err = s.Synchronize(ctx)
//
// Signals are stored without gaps, row-major, like Go's arrays. Transforms do not scale: a forward
// and an inverse transform together multiply by the number of elements. Calls only enqueue work on
// the plan's stream, and allocate nothing. If the stream records a graph, the graph records the
// work (see On). Close the graph before the plan.
//
// The package needs cuFFT and a device of package cuda.
package cufft
