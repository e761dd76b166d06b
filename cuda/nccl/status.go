package nccl

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/rendezvous"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// Errors of this package. Match them with errors.Is.
var (
	ErrNoLibrary = toolkit.ErrNotFound   // NCCL is not installed
	ErrMissing   = rendezvous.ErrMissing // ranks did not join, or did not reach a collective
	ErrLost      = rendezvous.ErrLost    // ranks ended
	ErrTimeout   = errors.New("a collective took too long")
	ErrClosed    = errors.New("the communicator was closed")
)

// Status is the result of a library call, an ncclResult_t. Its text is the library's name for the
// status.
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

// Error returns a text such as "ncclRemoteError".
func (s Status) Error() string { return toolkit.StatusText(s, statusNames, "nccl", "ncclResult") }

// Error is a failed call of the library.
type Error struct {
	Call   string // the library's function: "ncclAllReduce"
	Rank   int
	Status Status
}

// Error returns a text such as "nccl: rank 1: ncclAllReduce: ncclRemoteError".
func (e *Error) Error() string { return fmt.Sprintf("nccl: rank %d: %s: %v", e.Rank, e.Call, e.Status) }

// Unwrap returns the status.
func (e *Error) Unwrap() error { return e.Status }

// TimeoutError is the error of a collective that took too long. It names the ranks that have not
// reached the collective. A TimeoutError matches ErrTimeout. If Behind is not empty, it also
// matches ErrMissing.
type TimeoutError struct {
	Rank   int
	Call   string
	After  string // the timeout, such as "1m0s"
	Behind []int  // ranks that have enqueued fewer collectives, or that do not answer
}

// Error names the ranks.
func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("nccl: rank %d: %s: %v (%s)", e.Rank, e.Call, ErrTimeout, e.After)
	if len(e.Behind) == 0 {
		return s + "; all ranks have reached it: their devices or the network hang"
	}
	return s + "; " + rendezvous.Ranks(e.Behind) + " did not reach it"
}

// Is reports whether target is ErrTimeout or, if ranks are missing, ErrMissing.
func (e *TimeoutError) Is(target error) bool {
	return target == ErrTimeout || target == ErrMissing && len(e.Behind) > 0
}
