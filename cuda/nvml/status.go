package nvml

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// Status is the result of a library call, an nvmlReturn_t. Its text is the library's name for the
// status, such as "NVML_ERROR_NOT_SUPPORTED".
type Status int32

// The statuses that a program may want to match with errors.Is.
const (
	Uninitialized    Status = 1
	InvalidArgument  Status = 2
	NotSupported     Status = 3 // by this GPU, or by its driver
	NoPermission     Status = 4
	NotFound         Status = 6
	InsufficientSize Status = 7
	DriverNotLoaded  Status = 9
	TimedOut         Status = 10
	FunctionNotFound Status = 13 // the library is too old to have the function
	GPUIsLost        Status = 15
	ResetRequired    Status = 16
	VersionMismatch  Status = 18 // the library and the kernel module have different versions
	Unknown          Status = 999

	success Status = 0
)

// Error returns the library's name of the status.
func (s Status) Error() string { return toolkit.StatusText(s, statusNames, "NVML_", "NVML_ERROR") }

// statusNames are the names without NVML_.
var statusNames = map[Status]string{
	0:   "SUCCESS",
	1:   "ERROR_UNINITIALIZED",
	2:   "ERROR_INVALID_ARGUMENT",
	3:   "ERROR_NOT_SUPPORTED",
	4:   "ERROR_NO_PERMISSION",
	5:   "ERROR_ALREADY_INITIALIZED",
	6:   "ERROR_NOT_FOUND",
	7:   "ERROR_INSUFFICIENT_SIZE",
	8:   "ERROR_INSUFFICIENT_POWER",
	9:   "ERROR_DRIVER_NOT_LOADED",
	10:  "ERROR_TIMEOUT",
	11:  "ERROR_IRQ_ISSUE",
	12:  "ERROR_LIBRARY_NOT_FOUND",
	13:  "ERROR_FUNCTION_NOT_FOUND",
	14:  "ERROR_CORRUPTED_INFOROM",
	15:  "ERROR_GPU_IS_LOST",
	16:  "ERROR_RESET_REQUIRED",
	17:  "ERROR_OPERATING_SYSTEM",
	18:  "ERROR_LIB_RM_VERSION_MISMATCH",
	19:  "ERROR_IN_USE",
	20:  "ERROR_MEMORY",
	21:  "ERROR_NO_DATA",
	22:  "ERROR_VGPU_ECC_NOT_SUPPORTED",
	23:  "ERROR_INSUFFICIENT_RESOURCES",
	24:  "ERROR_FREQ_NOT_SUPPORTED",
	25:  "ERROR_ARGUMENT_VERSION_MISMATCH",
	26:  "ERROR_DEPRECATED",
	27:  "ERROR_NOT_READY",
	28:  "ERROR_GPU_NOT_FOUND",
	29:  "ERROR_INVALID_STATE",
	30:  "ERROR_RESET_TYPE_NOT_SUPPORTED",
	999: "ERROR_UNKNOWN",
}

// Error is a failed call of the library.
type Error struct {
	Call   string // the library's function: "nvmlInit_v2"
	Status Status
}

// Error returns a text such as "nvml: nvmlInit_v2: NVML_ERROR_DRIVER_NOT_LOADED".
func (e *Error) Error() string { return fmt.Sprintf("nvml: %s: %v", e.Call, e.Status) }

// Unwrap returns the status.
func (e *Error) Unwrap() error { return e.Status }

// failed returns the error of a call, or nil.
func failed(call string, s Status) error {
	if s == success {
		return nil
	}
	return &Error{call, s}
}
