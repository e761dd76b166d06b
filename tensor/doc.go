// Package tensor computes with arrays of numbers, on a GPU or the CPU, and computes derivatives.
//
//	err := tensor.Run(ctx, dev, func(s *tensor.Scope) error {
//		x := tensor.From(s, points, n, 3) // a []float32 as a matrix of n rows
//		centered := x.Sub(x.Mean(0))       // subtracts the mean row from each row
//		cov := centered.T().MatMul(centered).Scale(1 / float64(n-1))
//		fmt.Println(cov) // waits, and prints as NumPy does
//		v, err := tensor.Values[float32](ctx, cov)
//		...
//	})
//
// # Operations
//
// Most operations are methods, with the names that NumPy and PyTorch use. Some, such as Add and Exp, compute a function of each element.
// Others, such as Sum and Max, reduce dimensions. MatMul, Linear and Attention multiply matrices; Take, Gather and ScatterAdd use indices;
// Sort and Top order elements. Operations on several tensors, such as Where and Concat, are functions. An operation enqueues kernels and
// returns; Values, printing and Run wait for the kernels. No operation changes its operands.
//
// Shapes are broadcast as in NumPy. A negative dimension counts from the end: -1 is the last dimension. Operations compute with the types
// bool, uint8, int32, int64, F16, BF16, float32 and float64. For operands of different types, see Add.
//
// # Scopes
//
// A Scope owns the tensors that are made in it and frees them when Run returns. Tidy frees tensors earlier: it calls a function in a new
// frame, and frees the tensors of the frame when the function returns. The result of an operation belongs to the Scope of the operands, and to
// the innermost frame of this Scope. A tensor made by Wrap has no Scope: its memory belongs to the caller, and Run does not free it. A Scope
// and its tensors must be used by one goroutine at a time.
//
// # Errors
//
// Operations return a tensor and no error. After a mistake, such as shapes that do not fit, the result is void. Operations on a void tensor do
// nothing and return a void tensor. The Scope keeps the first mistake as an Error, with the line of the call. Values and Run return this
// Error.
//
// An Error wraps its cause, such as ErrShape. The comment of an operation lists the causes of its mistakes. These mistakes are possible in all
// operations: ErrScope if a tensor was freed or the tensors belong to different Scopes, ErrValue if a tensor is nil, ErrDType if no operation
// computes with the element type, and device.ErrMemory if there is not enough memory.
//
// # Derivatives
//
// After Record, a Scope records the operations on variables. Backward computes the derivatives of a tensor with one element, the loss, with
// respect to all variables:
//
//	s.Record()
//	w := s.Variable(weights)
//	loss := x.MatMul(w).CrossEntropy(labels)
//	s.Backward(loss)
//	step := w.Grad().Scale(-0.1)
//
// For a variable that Parameter returns, Backward adds the derivative to a tensor that outlives the Scope. Derivatives have the same
// bits on each run.
//
// # Graphs
//
// Capture records a function of tensors as a graph. Launching the whole graph takes the host less time than enqueuing the operations one by
// one.
//
// # Layout
//
// A tensor has an element type, a shape, and a stride for each dimension. The element type is a value of type dtype.Type, not a type
// parameter. Slice, Reshape, Transpose, Expand, Unsqueeze and Squeeze return views, which share memory with their operand. New tensors are
// in row-major order.
//
// # Operations of your own
//
// Apply applies a function of your own to each element: the compiler generates kernels from the function and its derivative. Op runs kernels
// of your own on the memory of tensors; its function Back computes the derivative.
package tensor
