package device

import (
	"fmt"
	"sync"
)

// allocation is memory of a device, shared by a Buffer and the slices of it.
//
// Lifetimes: whoever hands the address to a backend pins the allocation from before it
// asks for the address until the backend has taken the work. The memory goes back with
// the last of Close and the unpinning, so that a buffer which one goroutine closes while
// another enqueues work on it is either refused or freed after that work.
type allocation struct {
	device *Device
	memory Memory

	mu     sync.Mutex
	pins   int
	closed bool
}

// pin returns the address for work on d. Each call that succeeds needs an unpin.
func (a *allocation) pin(d *Device) (uintptr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, fmt.Errorf("buffer %w", ErrClosed)
	}
	if a.device != d {
		return 0, fmt.Errorf("buffer %w", ErrForeign)
	}
	a.pins++
	return a.memory.Address(), nil
}

// unpin undoes a pin, and frees memory that was closed meanwhile.
func (a *allocation) unpin() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pins--
	return a.freeUnused()
}

// close frees the memory, now or with the last unpin.
func (a *allocation) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return fmt.Errorf("buffer %w", ErrClosed)
	}
	a.closed = true
	return a.freeUnused()
}

func (a *allocation) freeUnused() error {
	if !a.closed || a.pins > 0 {
		return nil
	}
	return a.device.free(a.memory)
}
