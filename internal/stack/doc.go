// Package stack finds the line of the program that called a function of this module, at a cost that allows it for each tensor.
//
// A Stack holds return addresses. Take reads them from the frame pointers, which takes some ten nanoseconds; runtime.Callers, which also
// finds the calls that were inlined, takes half a microsecond. Line finds the inlined calls later, if an error needs the line. Take does
// not allocate.
//
//	var s stack.Stack
//	s.Take()
//	...
//	fmt.Println("called at", s.Line())
package stack
