// Package dl opens shared libraries and calls their C functions without cgo. It is the
// only package that does; everything above it sees Go functions.
//
//	lib, err := dl.Open("libcuda.so.1", "libcuda.so")
//	if errors.Is(err, dl.ErrNotFound) { ... }
//	address, err := lib.Symbol("cuInit")
//	status := dl.Call(address, 0)
//
// It is no binding generator: arguments and results are integers of the size of a uintptr or smaller. Floating-point
// numbers can be passed as the last arguments (CallFloats), structs by value cannot. A build with CGO_ENABLED=0
// that imports it is linked dynamically to the system's C library.
package dl
