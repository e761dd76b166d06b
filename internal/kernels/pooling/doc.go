// Package pooling reduces the rows of each sequence to one row: the mean, the maximum of each column, or the first row, as models that
// embed texts do. Rows are float32, dtype.BF16 or dtype.F16; results and arithmetic are float32.
//
//	// two sequences, of rows 0 to 99 and 100 to 136
//	starts, err := device.Upload(s, []int32{0, 100, 137})
//	...
//	shape := pooling.Shape{Sequences: 2, Rows: 137, Columns: 384}
//	err = pooling.Reduce(s, shape, pooling.Mean, pooling.Operands[dtype.BF16]{X: x, Starts: starts.All(), Y: y})
//
// Reduce allocates nothing and may be recorded in a graph. On a GPU, a block of 128 threads takes a sequence; on the CPU, 16 lanes do.
// Neighbouring threads have neighbouring columns.
package pooling

//go:generate go tool kernelgen .
