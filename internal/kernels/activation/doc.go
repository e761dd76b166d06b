// Package activation applies functions to the elements of arrays, in float32: activation functions, gated ones, and with
// MapKernel any function of one element.
//
//	err := activation.Apply(s, activation.GELU, x, y) // device.Slice[dtype.BF16] and others
//	err = activation.SwiGLU(s, shape, activation.Stacked, activation.Operands[dtype.BF16]{Gate: x, Y: y})
//	err = activation.SwiGLUBack(s, shape, activation.Stacked, activation.Gradients[dtype.BF16]{Gate: x, DY: dy, DGate: dx})
//
// A function of the user's own is a type without fields, of which kernels are made by instances:
//
//	type softsign struct{}
//
//	func (softsign) Of(x float32) float32 { return x / (1 + math32.Abs(x)) }
//
//	//gpu:instance Softsign = activation.MapKernel[row.BF16x8, softsign]
package activation

//go:generate go tool kernelgen .
