// Package tensor computes with arrays of numbers on a device: a GPU or the CPU.
//
//	err := tensor.Run(ctx, dev, func(s *tensor.Scope) error {
//		x := tensor.From(s, points, n, 3)       // a []float32 as a matrix of n rows
//		y := x.Slice(0, 0, n/2).Reshape(-1)     // a view: no copy
//		v, err := tensor.Values[float32](ctx, y) // waits, and returns the first mistake
//		...
//	})
//
// # Scopes
//
// A Scope owns the tensors that are made in it and frees them when Run returns. Tidy frees earlier: it opens a
// frame, which owns the tensors that are made while a function runs. The result of an operation belongs to the
// innermost frame of its operands' Scope. A tensor of Wrap has no Scope and is never freed, as parameters of a
// model are. A Scope and its tensors must be used by one goroutine at a time.
//
// # Errors
//
// Operations return a tensor and no error. A mistake, such as shapes that do not fit, makes the result void:
// operations on a void tensor do nothing and return a void tensor. The Scope keeps the first mistake as an Error
// with the line of the program that made it, and Values and Run return that Error.
//
// # Layout
//
// A tensor has an element type, which is known at run time, a shape, and a stride for each dimension. Slice,
// Reshape and Transpose return views, which share memory with their operand. Elements are in row-major order.
//
// Op adds operations: a kernel of the program's own runs on the memory of tensors.
package tensor
