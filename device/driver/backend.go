package driver

import (
	"context"
	"time"
)

// Backend is a device that can run kernels. Its methods may be called from any goroutine.
//
// A Backend, its queues and its memory may implement further interfaces (see optional.go).
type Backend interface {
	Info() Info
	// Allocate returns size bytes, aligned to 256, with arbitrary contents. size is at least 1.
	Allocate(size int) (Memory, error)
	// NewQueue returns a queue, whose work runs in order.
	NewQueue() (Queue, error)
	// Close frees everything. Queues and memory of the back end are then invalid.
	Close() error
}

// Memory is one allocation of a Backend.
type Memory interface {
	// Address returns the address by which kernels access the memory.
	Address() uintptr
	// Free returns the memory to the back end when all work enqueued before the call is done. It may wait for that.
	Free() error
}

// Queue runs the work of one stream. Its methods may be called from several goroutines at once;
// the work that one goroutine enqueues runs in that goroutine's order.
type Queue interface {
	// Launch enqueues a kernel. It must not keep p. The grid of p has at least one block.
	Launch(p *Plan) error
	// Upload enqueues a copy of src to device memory. The caller may change src when Upload
	// returns.
	Upload(dst uintptr, src []byte) error
	// Download enqueues a copy from device memory. The contents of dst are valid after Wait;
	// the queue keeps dst alive until then.
	Download(dst []byte, src uintptr) error
	// Copy enqueues a copy of n bytes within the device.
	Copy(dst, src uintptr, n int) error
	// Zero enqueues the clearing of n bytes.
	Zero(dst uintptr, n int) error
	// Mark enqueues a mark. Its time is available after a Wait.
	Mark() (Mark, error)
	// Wait waits until all work enqueued before the call is done, or until ctx is done. In the
	// second case, the work continues.
	Wait(ctx context.Context) error
	// Take returns the faults and prints since the last Take. The result includes the faults and
	// prints of all work that a Wait has waited for, and possibly those of later work. Take does not
	// wait.
	Take() Outcome
	// Close waits for the work and frees the queue.
	Close() error
}

// Mark is a point in the work of a Queue.
type Mark interface {
	// Since returns the device's time from an earlier mark of the same back end to this one.
	Since(earlier Mark) (time.Duration, error)
	// Free frees the mark.
	Free() error
}

// Outcome contains the first fault and the prints of a queue's kernels.
type Outcome struct {
	Fault  *Fault  // the first fault, or nil
	Prints []Print // in any order, except that the prints of one thread are in program order
	Lost   int     // number of prints dropped for lack of space
}

// Add appends a later outcome.
func (o *Outcome) Add(later Outcome) {
	if o.Fault == nil {
		o.Fault = later.Fault
	}
	o.Prints = append(o.Prints, later.Prints...)
	o.Lost += later.Lost
}

// Print is the output of one call of gpu.Printf.
type Print struct {
	Launch        uint32 // number of the launch in its queue, from 0
	Block, Thread [3]int
	Text          string
}
