package device

import (
	"context"
	"time"
	"unsafe"
)

// Backend is a machine that can run kernels. Its methods may be called from any goroutine.
// Users see it as a Device.
//
// A backend, its queues and its memory may implement more than they must (see capability.go).
type Backend interface {
	Info() Info
	// Allocate returns size bytes, at least 1, aligned to 256, with arbitrary contents.
	Allocate(size int) (Memory, error)
	// NewQueue returns a queue of work that runs in order.
	NewQueue() (Queue, error)
	// Close frees everything; queues and memory of the backend are then invalid.
	Close() error
}

// Memory is one allocation of a Backend.
type Memory interface {
	// Address is where kernels see the memory.
	Address() uintptr
	// Free returns the memory to the backend, after all work that was enqueued before.
	Free() error
}

// Queue is the work of one stream. Its methods may be called from any goroutine, several at
// once; what one goroutine enqueues is done in its order.
type Queue interface {
	// Launch enqueues a kernel. It must not keep p.
	Launch(p *Plan) error
	// Upload enqueues a copy of src to device memory. The caller may reuse src at once.
	Upload(dst uintptr, src []byte) error
	// Download enqueues a copy from device memory. The contents of dst count after Wait;
	// until then the queue keeps dst alive.
	Download(dst []byte, src uintptr) error
	// Copy enqueues a copy of n bytes within the device.
	Copy(dst, src uintptr, n int) error
	// Zero enqueues the clearing of n bytes.
	Zero(dst uintptr, n int) error
	// Mark enqueues a point whose time can be asked for after a Wait.
	Mark() (Mark, error)
	// Wait waits for all work that was enqueued before the call, or until ctx is done, which
	// leaves the work running.
	Wait(ctx context.Context) error
	// Take returns what the kernels left since the last Take: all of the work that a Wait has
	// waited for, maybe more. It waits for no work.
	Take() Outcome
	// Close waits for the work and frees the queue.
	Close() error
}

// Mark is a point in a Queue.
type Mark interface {
	// Since returns the device's time from an earlier mark of the same backend to this one.
	Since(earlier Mark) (time.Duration, error)
	// Free frees the mark.
	Free() error
}

// Outcome is what the kernels of a queue left for the host.
type Outcome struct {
	Fault *Fault // of the first thread that claimed one, or nil
	// FaultLaunch is the number of the fault's launch plus 1 (see Plan.SetHidden); 0 where it
	// is not known.
	FaultLaunch uint32
	Prints      []Print // in any order, but those of one thread in program order
	Lost        int     // prints that found no room
}

// Add adds what was left later.
func (o *Outcome) Add(later Outcome) {
	if o.Fault == nil {
		o.Fault, o.FaultLaunch = later.Fault, later.FaultLaunch
	}
	o.Prints = append(o.Prints, later.Prints...)
	o.Lost += later.Lost
}

// Print is one line that a kernel printed.
type Print struct {
	Launch        uint32 // counts the launches of a queue
	Block, Thread [3]int
	Text          string
}

// bytesOf views a slice as bytes. The view keeps the slice's memory alive.
func bytesOf[T any](s []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(zero)))
}

// sizeOf returns the size of a T in bytes.
func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}
