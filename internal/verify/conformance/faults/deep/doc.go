// Package deep has functions that panic, for kernels of another package. It has no kernels.
//
//	q := deep.Divide(a, b) // panics where b is 0
package deep
