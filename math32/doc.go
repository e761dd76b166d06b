// Package math32 is mathematics in float32 for kernels, and for anyone else: what package math
// has for float64. A kernel that calls it gets the same bits on the CPU, in the interpreter and
// on every GPU, because its functions are ordinary Go, made of operations that round as IEEE 754
// says, and of FMA.
//
//	//gpu:kernel
//	func logistic(t gpu.Thread, x []float32) {
//		if i := t.GlobalX(); i < len(x) {
//			x[i] = 1 / (1 + math32.Exp(-x[i]))
//		}
//	}
//
// Special values are those of package math. A unit is one unit in the last place of the
// true value.
//
// It is not the fastest that a GPU can do: functions whose name begins with Fast are, at the price
// of an error that is larger, and of bits that differ from machine to machine.
package math32
