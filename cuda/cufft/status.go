package cufft

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// ErrNoLibrary matches the error of NewComplex and NewReal if cuFFT is not installed.
var ErrNoLibrary = toolkit.ErrNotFound

// ErrShape matches the errors for impossible shapes, and for slices whose lengths do not match the
// shape.
var ErrShape = errors.New("shape does not fit")

// ErrClosed is the error of a call on a closed plan.
var ErrClosed = errors.New("cufft: the plan was closed")

// Status is the result of a library call, a cufftResult. Its text is the library's name for the
// status.
type Status int32

// Statuses that a program may want to match.
const (
	InvalidPlan   Status = 1
	AllocFailed   Status = 2
	InvalidValue  Status = 4
	InternalError Status = 5
	ExecFailed    Status = 6
	SetupFailed   Status = 7
	InvalidSize   Status = 8
)

var statusNames = map[Status]string{
	0: "SUCCESS", 1: "INVALID_PLAN", 2: "ALLOC_FAILED", 3: "INVALID_TYPE", 4: "INVALID_VALUE", 5: "INTERNAL_ERROR",
	6: "EXEC_FAILED", 7: "SETUP_FAILED", 8: "INVALID_SIZE", 9: "UNALIGNED_DATA", 10: "INCOMPLETE_PARAMETER_LIST",
	11: "INVALID_DEVICE", 12: "PARSE_ERROR", 13: "NO_WORKSPACE", 14: "NOT_IMPLEMENTED", 15: "LICENSE_ERROR", 16: "NOT_SUPPORTED",
}

// Error returns a text such as "CUFFT_EXEC_FAILED".
func (s Status) Error() string { return toolkit.StatusText(s, statusNames, "CUFFT_", "CUFFT_RESULT") }

// Error is a failed call of the library.
type Error struct {
	Call   string // the library's function: "cufftExecC2C"
	Status Status
}

// Error returns a text such as "cufft: cufftExecC2C: CUFFT_EXEC_FAILED".
func (e *Error) Error() string { return fmt.Sprintf("cufft: %s: %v", e.Call, e.Status) }

// Unwrap returns the status.
func (e *Error) Unwrap() error { return e.Status }

func failed(symbol string, status int32) error { return &Error{symbol, Status(status)} }
