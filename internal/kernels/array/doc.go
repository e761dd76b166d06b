// Package array computes with the elements of arrays of any element type: functions of elements, reductions over dimensions, and
// copies by index.
//
//	x := array.Operand{Bytes: bytes, Type: dtype.BFloat16}
//	...
//	err := array.Apply(s, array.Add, out, x, y, layout)
//
// Element types and operations are arguments of the kernels and not type parameters, so that there are few kernels: one for
// float32 arithmetic, which also serves half precision, one for float64, and one for integers. A branch on such an argument takes the
// same way in all threads. Arrays may have any strides; those of a broadcast dimension are 0. Sums have an order that depends only on
// the sizes, so results are the same on all devices, except for functions whose rounding differs between devices.
package array

//go:generate go tool kernelgen .
