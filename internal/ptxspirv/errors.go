package ptxspirv

import "errors"

// ErrUnsupported matches errors for kernels that a device cannot run because it lacks a feature, or that SPIR-V cannot express. Their text
// begins with a position in the source of the kernel.
var ErrUnsupported = errors.New("not supported")

var errIrreducible = errors.New("a loop has several entries")
