// Package dl opens shared libraries and calls their C functions without cgo. No other package does so;
// packages that build on it provide Go functions.
//
//	lib, err := dl.Open("libcuda.so.1", "libcuda.so")
//	if errors.Is(err, dl.ErrNotFound) { ... }
//	address, err := lib.Symbol("cuInit")
//	status := dl.Call(address, 0)
//
// It generates no bindings. Arguments and results are integers that are not larger than a uintptr.
// Floating-point numbers can be passed as the last arguments (CallFloats); structs cannot be passed by value.
// A program that imports the package is linked dynamically to the system's C library, even with CGO_ENABLED=0.
package dl
