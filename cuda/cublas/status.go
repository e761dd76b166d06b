package cublas

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// ErrNoLibrary matches the error of New if cuBLAS is not installed.
var ErrNoLibrary = toolkit.ErrNotFound

// ErrShape matches the errors for matrices and vectors whose sizes do not match each other, or that
// do not fit in their Data.
var ErrShape = errors.New("shapes do not fit")

// Status is the result of a library call, a cublasStatus_t. Its text is the library's name for the
// status.
type Status int32

// The statuses.
const (
	NotInitialized  Status = 1
	AllocFailed     Status = 3
	InvalidValue    Status = 7
	ArchMismatch    Status = 8
	MappingError    Status = 11
	ExecutionFailed Status = 13
	InternalError   Status = 14
	NotSupported    Status = 15
	LicenseError    Status = 16

	success Status = 0
)

var statusNames = map[Status]string{
	success: "SUCCESS", NotInitialized: "NOT_INITIALIZED", AllocFailed: "ALLOC_FAILED", InvalidValue: "INVALID_VALUE",
	ArchMismatch: "ARCH_MISMATCH", MappingError: "MAPPING_ERROR", ExecutionFailed: "EXECUTION_FAILED",
	InternalError: "INTERNAL_ERROR", NotSupported: "NOT_SUPPORTED", LicenseError: "LICENSE_ERROR",
}

// Error returns a text such as "CUBLAS_STATUS_NOT_SUPPORTED".
func (s Status) Error() string {
	return toolkit.StatusText(s, statusNames, "CUBLAS_STATUS_", "CUBLAS_STATUS")
}

// Error is a failed call of the library.
type Error struct {
	Call   string // the library's function: "cublasSgemm_v2_64"
	Status Status
}

// Error returns a text such as "cublas: cublasCreate_v2: CUBLAS_STATUS_NOT_INITIALIZED".
func (e *Error) Error() string { return fmt.Sprintf("cublas: %s: %v", e.Call, e.Status) }

// Unwrap returns the status.
func (e *Error) Unwrap() error { return e.Status }

func failed(symbol string, status int32) error { return &Error{symbol, Status(status)} }
