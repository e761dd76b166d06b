// Package strided copies arrays whose elements are not contiguous, such as the transpose of a matrix or a slice of its columns.
//
//	// the columns 10 to 19 of a matrix of 100 columns
//	err := strided.Copy(s, dst, src, strided.Layout{Shape: []int{rows, 10}, Strides: []int{100, 1}, Offset: 10})
//
// Each thread copies one element. Dimensions that are contiguous with each other are merged first, so that most copies have one or
// two.
package strided

//go:generate go tool kernelgen .
