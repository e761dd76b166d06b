package driver

import "errors"

// Errors that back ends wrap, with details. Package device exports the same values under the same
// names.
var (
	ErrAssumption  = errors.New("the launch does not meet the assumptions of the kernel")
	ErrClosed      = errors.New("is closed")
	ErrForeign     = errors.New("belongs to another device")
	ErrGrid        = errors.New("grid does not fit the device")
	ErrMemory      = errors.New("out of memory on the device")
	ErrMismatch    = errors.New("arguments do not match the kernel; regenerate the launchers")
	ErrNoVariant   = errors.New("no variant of the kernel fits the device")
	ErrOverlap     = errors.New("slices overlap")
	ErrRunning     = errors.New("is still running and cannot be stopped")
	ErrStale       = errors.New("generated code is stale")
	ErrUnsupported = errors.New("not supported by the device")
)
