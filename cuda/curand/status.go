package curand

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// ErrNoLibrary matches the error of New where cuRAND is not on the machine.
var ErrNoLibrary = toolkit.ErrNotFound

// ErrClosed is the error of using a generator after Close.
var ErrClosed = errors.New("curand: the generator was closed")

// Status is the library's result of a call, its curandStatus_t. As an error its text is the library's own name
// of it.
type Status int32

// The statuses.
const (
	VersionMismatch         Status = 100
	NotInitialized          Status = 101
	AllocationFailed        Status = 102
	TypeError               Status = 103 // the generator's kind does not have these numbers
	OutOfRange              Status = 104
	LengthNotMultiple       Status = 105 // of the generator's dimensions, or of 2 for normal numbers
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

// Error returns "CURAND_STATUS_TYPE_ERROR".
func (s Status) Error() string {
	return toolkit.StatusText(s, statusNames, "CURAND_STATUS_", "CURAND_STATUS")
}

// Error is a call of the library that failed.
type Error struct {
	Call   string // the library's function: "curandGenerateNormal"
	Status Status
}

// Error returns "curand: curandGenerateNormal: CURAND_STATUS_LENGTH_NOT_MULTIPLE".
func (e *Error) Error() string { return fmt.Sprintf("curand: %s: %v", e.Call, e.Status) }

// Unwrap returns the status.
func (e *Error) Unwrap() error { return e.Status }

func failed(symbol string, status int32) error { return &Error{symbol, Status(status)} }
