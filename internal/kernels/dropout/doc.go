// Package dropout replaces random elements by zero and scales the others (Srivastava et al., "Dropout: A Simple Way to Prevent Neural
// Networks from Overfitting").
//
//	o := dropout.Options{Rate: 0.1, Seed: 1, Stream: step*layers + layer}
//	err := dropout.Apply(s, o, x, y)   // device.Slice[float32] or device.Slice[dtype.BF16]
//	...
//	err = dropout.Apply(s, o, dy, dx)  // the derivative: the same elements are zero
//
// Whether an element is kept depends on the options and its index, and not on the device or the element type: no mask is stored.
package dropout

//go:generate go tool kernelgen .
