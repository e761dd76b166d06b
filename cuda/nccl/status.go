package nccl

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/rendezvous"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// Errors; match them with errors.Is.
var (
	ErrNoLibrary = toolkit.ErrNotFound   // NCCL is not on the machine
	ErrMissing   = rendezvous.ErrMissing // ranks did not come
	ErrLost      = rendezvous.ErrLost    // ranks ended
	ErrTimeout   = errors.New("a collective took too long")
	ErrClosed    = errors.New("the communicator was closed")
)

// Status is the library's result of a call, its ncclResult_t. As an error its text is the library's
// own name of it.
type Status int32

// The statuses.
const (
	UnhandledCudaError Status = 1
	SystemError        Status = 2
	InternalError      Status = 3
	InvalidArgument    Status = 4
	InvalidUsage       Status = 5
	RemoteError        Status = 6

	success    Status = 0
	inProgress Status = 7
)

var statusNames = map[Status]string{
	success: "Success", UnhandledCudaError: "UnhandledCudaError", SystemError: "SystemError", InternalError: "InternalError",
	InvalidArgument: "InvalidArgument", InvalidUsage: "InvalidUsage", RemoteError: "RemoteError", inProgress: "InProgress",
}

// Error returns "ncclRemoteError".
func (s Status) Error() string { return toolkit.StatusText(s, statusNames, "nccl", "ncclResult") }

// Error is a call of the library that failed.
type Error struct {
	Call   string // the library's function: "ncclAllReduce"
	Rank   int
	Status Status
}

// Error returns "nccl: rank 1: ncclAllReduce: ncclRemoteError".
func (e *Error) Error() string { return fmt.Sprintf("nccl: rank %d: %s: %v", e.Rank, e.Call, e.Status) }

// Unwrap returns the status.
func (e *Error) Unwrap() error { return e.Status }

// TimeoutError says that a collective took too long, and which ranks have not come to it. It
// matches ErrTimeout, and ErrMissing where some are known to be behind.
type TimeoutError struct {
	Rank   int
	Call   string
	After  string // how long it was waited for
	Behind []int  // ranks that were given less work, or do not answer
}

// Error names the ranks.
func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("nccl: rank %d: %s: %v (%s)", e.Rank, e.Call, ErrTimeout, e.After)
	if len(e.Behind) == 0 {
		return s + "; all ranks have come to it: their devices or the network are stuck"
	}
	return s + "; " + rendezvous.Ranks(e.Behind) + " did not come to it"
}

// Is reports whether target is ErrTimeout, or ErrMissing.
func (e *TimeoutError) Is(target error) bool {
	return target == ErrTimeout || target == ErrMissing && len(e.Behind) > 0
}
