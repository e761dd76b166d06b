package device

import "errors"

// Errors that a program can cause; match them with errors.Is. What is returned wraps
// them with the kernel, the argument and the figures.
var (
	ErrClosed      = errors.New("is closed")
	ErrNilBuffer   = errors.New("nil buffer")
	ErrForeign     = errors.New("belongs to another device")
	ErrLength      = errors.New("lengths differ")
	ErrRange       = errors.New("slice bounds out of range")
	ErrGrid        = errors.New("grid does not fit the device")
	ErrOverlap     = errors.New("slices overlap")
	ErrMemory      = errors.New("out of memory on the device")
	ErrElement     = errors.New("element type holds Go pointers")
	ErrNoVariant   = errors.New("no variant of the kernel fits the device")
	ErrLeak        = errors.New("memory was not closed")
	ErrAlign       = errors.New("memory is not aligned for the type")
	ErrCapture     = errors.New("cannot be part of a graph")
	ErrUnsupported = errors.New("not supported by the device")
	ErrMismatch    = errors.New("arguments do not match the kernel; generate the launchers anew")
	ErrStale       = errors.New("generated code is stale")
	ErrWatched     = errors.New("has a watcher already")
)
