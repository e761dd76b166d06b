package ptxspirv

import "errors"

// ErrUnsupported matches errors for kernels that a device cannot run because it lacks a feature, or that SPIR-V cannot express.
var ErrUnsupported = errors.New("ptxspirv: unsupported")

var errIrreducible = errors.New("a loop has several entries")
