package curand

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// ErrNoLibrary matches the error of New if cuRAND is not installed.
var ErrNoLibrary = toolkit.ErrNotFound

// ErrClosed is the error of a call on a closed generator.
var ErrClosed = errors.New("curand: the generator was closed")

// Status is the result of a library call, a curandStatus_t. Its text is the library's name for the
// status.
type Status int32

// The statuses.
const (
	VersionMismatch         Status = 100
	NotInitialized          Status = 101
	AllocationFailed        Status = 102
	TypeError               Status = 103 // the generator's kind does not generate this type
	OutOfRange              Status = 104
	LengthNotMultiple       Status = 105 // the slice's length is not a multiple of Options.Dimensions or, for normal numbers, is odd
	DoublePrecisionRequired Status = 106
	LaunchFailure           Status = 201
	PreexistingFailure      Status = 202
	InitializationFailed    Status = 203
	ArchMismatch            Status = 204
	InternalError           Status = 999
)

var statusNames = map[Status]string{
	VersionMismatch: "VERSION_MISMATCH", NotInitialized: "NOT_INITIALIZED", AllocationFailed: "ALLOCATION_FAILED", TypeError: "TYPE_ERROR",
	OutOfRange: "OUT_OF_RANGE", LengthNotMultiple: "LENGTH_NOT_MULTIPLE", DoublePrecisionRequired: "DOUBLE_PRECISION_REQUIRED",
	LaunchFailure: "LAUNCH_FAILURE", PreexistingFailure: "PREEXISTING_FAILURE", InitializationFailed: "INITIALIZATION_FAILED",
	ArchMismatch: "ARCH_MISMATCH", InternalError: "INTERNAL_ERROR",
}

// Error returns a text such as "CURAND_STATUS_TYPE_ERROR".
func (s Status) Error() string {
	return toolkit.StatusText(s, statusNames, "CURAND_STATUS_", "CURAND_STATUS")
}

// Error is a failed call of the library.
type Error struct {
	Call   string // the library's function: "curandGenerateNormal"
	Status Status
}

// Error returns a text such as "curand: curandGenerateNormal: CURAND_STATUS_LENGTH_NOT_MULTIPLE".
func (e *Error) Error() string { return fmt.Sprintf("curand: %s: %v", e.Call, e.Status) }

// Unwrap returns the status.
func (e *Error) Unwrap() error { return e.Status }

func failed(symbol string, status int32) error { return &Error{symbol, Status(status)} }
