// Package matvec multiplies matrices of bfloat16 weights by a vector of float32 numbers. Its kernel is for CPUs: the lanes of a
// vector unit are neighbouring columns, and a block is eight rows.
//
//	err := matvec.Multiply(s, matvec.Shape{Rows: 4096, Columns: 4096}, matvec.Operands{W: w.All(), X: x.All(), Y: y.All()})
package matvec

//go:generate go tool kernelgen .
