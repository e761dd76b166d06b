package cuda

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// Status is the result of a driver call. The text of a Status is the name that the driver gives to
// it, such as "CUDA_ERROR_OUT_OF_MEMORY". Match an error with errors.Is(err, cuda.OutOfMemory).
type Status = cudasys.Status

// Statuses that a program may want to match.
const (
	InvalidValue         = cudasys.InvalidValue
	OutOfMemory          = cudasys.OutOfMemory
	DeviceUnavailable    = cudasys.DeviceUnavailable
	NoDevice             = cudasys.NoDevice
	InvalidDevice        = cudasys.InvalidDevice
	NoBinaryForGPU       = cudasys.NoBinaryForGPU
	ECCUncorrectable     = cudasys.ECCUncorrectable
	InvalidPTX           = cudasys.InvalidPTX
	JITCompilerNotFound  = cudasys.JITCompilerNotFound
	UnsupportedPTX       = cudasys.UnsupportedPTXVersion
	NotReady             = cudasys.NotReady
	IllegalAddress       = cudasys.IllegalAddress
	LaunchOutOfResources = cudasys.LaunchOutOfResources
	LaunchTimeout        = cudasys.LaunchTimeout
	IllegalInstruction   = cudasys.IllegalInstruction
	MisalignedAddress    = cudasys.MisalignedAddress
	LaunchFailed         = cudasys.LaunchFailed
)

// Error is a failed call of the driver.
type Error struct {
	Call   string // the driver's function: "cuMemAlloc"
	Detail string // its arguments, for people to read: "64 MiB"; may be empty
	Status Status
}

// Error returns "cuda: cuMemAlloc(64 MiB): CUDA_ERROR_OUT_OF_MEMORY".
func (e *Error) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("cuda: %s: %v", e.Call, e.Status)
	}
	return fmt.Sprintf("cuda: %s(%s): %v", e.Call, e.Detail, e.Status)
}

// Unwrap returns the status.
func (e *Error) Unwrap() error { return e.Status }

// Is reports whether target is the error of package device that corresponds to the status:
// ErrMemory if the device ran out of memory, ErrGrid if it cannot run all blocks of a cooperative
// launch at the same time.
func (e *Error) Is(target error) bool {
	switch e.Status {
	case OutOfMemory:
		return target == driver.ErrMemory
	case cudasys.CooperativeTooLarge, cudasys.InvalidClusterSize:
		return target == driver.ErrGrid
	}
	return false
}

// about adds to an error of the driver a description of the call's arguments.
func about(err error, detail string) error {
	if e, ok := err.(*Error); ok {
		e.Detail = detail
	}
	return err
}

// ErrLost matches every LostError.
var ErrLost = errors.New("the device was lost")

// LostError is the error of a device that can no longer be used. After certain errors, the driver
// refuses all further work of the process on the device. All later calls return the same LostError.
type LostError struct {
	Cause *Error
	Means string // the usual reason for the status of the cause
}

// Error returns the cause, its usual reason, and what to do.
func (e *LostError) Error() string {
	return fmt.Sprintf("%v (%s): %v; its memory is lost; restart the program", e.Cause, e.Means, ErrLost)
}

// Unwrap returns the cause and ErrLost.
func (e *LostError) Unwrap() []error { return []error{e.Cause, ErrLost} }

// sticky lists the statuses after which a context is unusable, and the usual reason for each ("CUDA
// Driver API", CUresult: those whose description demands that the process be relaunched or the
// context be destroyed).
var sticky = map[Status]string{
	cudasys.ECCUncorrectable:    "the GPU's memory has an error that it cannot correct",
	cudasys.NVLinkUncorrectable: "a link between GPUs has an error that it cannot correct",
	cudasys.Contained:           "a memory error of the GPU was contained by ending the process's work",
	cudasys.IllegalAddress:      "a kernel used an address that is not allocated",
	cudasys.LaunchTimeout:       "a kernel ran longer than is allowed on a GPU that drives a display",
	cudasys.ContextIsDestroyed:  "other code of the process destroyed the context",
	cudasys.Assert:              "a device-side assertion failed",
	cudasys.HardwareStackError:  "a kernel overflowed or corrupted its stack",
	cudasys.IllegalInstruction:  "a kernel executed an instruction that the GPU does not support, or a trap",
	cudasys.MisalignedAddress:   "a kernel used an address that is not aligned to the size of the access",
	cudasys.InvalidAddressSpace: "a kernel used an address of the wrong memory space",
	cudasys.InvalidPC:           "a kernel jumped out of its code",
	cudasys.LaunchFailed:        "a kernel failed while it ran, often by an invalid address in shared memory",
	cudasys.TensorMemoryLeak:    "a kernel ended without freeing its tensor memory",
	cudasys.MPSClientTerminated: "the MPS server ended the process's work",
	cudasys.ExternalDevice:      "another device made the work fail",
}
