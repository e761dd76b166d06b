package device

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// allocation is shared by a buffer and its slices: the memory is not collected while one of them is
// reachable. Everything else is in the block, which the device refers to as well.
type allocation struct{ *block }

// block is memory that kernels can use.
//
// Lifetimes: code that passes the address to a back end pins the block before it reads the address
// and unpins it when the back end has taken the work. The memory is freed with the last of Close and
// the unpins, after all work of all streams that ever pinned it. If one goroutine closes a buffer
// while another enqueues work on it, the work either fails or precedes the freeing; Close never waits.
// A block that becomes unreachable is freed in the same way by the collector's cleanup. The plans of a
// driver.Asynchronous queue do not pin, which saves two locked instructions for each argument: the
// queue calls Plan.Closed instead, holding the lock that freeing after its work takes too.
type block struct {
	device  *Device
	memory  driver.Memory
	address uintptr // of memory
	size    int
	kind    string // what the owners' list calls it
	made    callers
	handle  weak.Pointer[allocation]
	keep    []byte // memory of the program that is registered, or nil
	// keepLost is set if the program may refer to the memory without the handle: the block then
	// remains when the handle becomes unreachable.
	keepLost bool

	state  atomic.Int64 // pins, plus shut once it is closed
	freed  atomic.Bool
	recent atomic.Pointer[Stream] // in users; the only one that pins without a lock

	mu    sync.Mutex
	home  *Stream   // in whose order it was allocated, or nil
	users []*Stream // that may have work on it
}

// shut in a block's state means that it was closed.
const shut = -1 << 62

// newAllocation returns the handle of a block. A cleanup frees the block if the program does not close it.
func newAllocation(b *block) *allocation {
	b.address = b.memory.Address()
	a := &allocation{b}
	b.handle = weak.Make(a)
	runtime.AddCleanup(a, (*block).abandon, b)
	return a
}

// pin returns the address for work on s. Each call that succeeds needs an unpin. A stream that
// records has its graph keep the block until the graph is closed.
func (a *allocation) pin(s *Stream) (uintptr, error) {
	b := a.block
	if b.device != s.device {
		return 0, fmt.Errorf("buffer %w", ErrForeign)
	}
	if s.recorder != nil {
		address, err := a.pinArgument()
		if err == nil {
			s.recorder.graph.keep(a)
		}
		return address, err
	}
	if b.state.Add(1) < 0 {
		return 0, join(fmt.Errorf("buffer %w", ErrClosed), b.unpin())
	}
	if b.recent.Load() != s {
		if err := b.join(s); err != nil {
			return 0, join(err, b.unpin())
		}
	}
	return b.address, nil
}

// pinArgument is pin for a launch that is recorded: its node keeps the block, until the node is updated.
func (a *allocation) pinArgument() (uintptr, error) {
	if a.state.Add(1) < 0 {
		return 0, join(fmt.Errorf("buffer %w", ErrClosed), a.unpin())
	}
	return a.address, nil
}

// lend is pin for a plan whose queue calls Plan.Closed. It needs no unpin.
func (a *allocation) lend(s *Stream) (uintptr, error) {
	b := a.block
	if b.recent.Load() == s && b.state.Load() >= 0 { // the device is that of s, and s does not record
		return b.address, nil
	}
	switch {
	case b.device != s.device:
		return 0, fmt.Errorf("buffer %w", ErrForeign)
	case b.state.Load() < 0:
		return 0, fmt.Errorf("buffer %w", ErrClosed)
	}
	return b.address, b.join(s)
}

// join adds s to the streams that may have work on the block. If the memory was allocated in the
// order of another stream, it may not exist yet, so the later work of s waits for the present work
// of that stream.
func (b *block) join(s *Stream) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.users, s) {
		b.users = slices.DeleteFunc(b.users, (*Stream).idle)
		if b.home != nil && b.home != s {
			if err := s.follow(b.home); err != nil {
				return err
			}
		}
		b.users = append(b.users, s)
	}
	b.recent.Store(s)
	return nil
}

// closed reports whether Close was called.
func (b *block) closed() bool { return b.state.Load() < 0 }

// unpin undoes a pin, and frees the memory if it was closed in the meantime.
func (b *block) unpin() error {
	if b.state.Add(-1) == shut {
		return b.free()
	}
	return nil
}

// close frees the memory, now or with the last unpin.
func (b *block) close() error {
	for {
		pins := b.state.Load()
		if pins < 0 {
			return fmt.Errorf("buffer %w", ErrClosed)
		}
		if b.state.CompareAndSwap(pins, pins+shut) {
			if pins == 0 {
				return b.free()
			}
			return nil
		}
	}
}

// abandon frees the memory of a handle that is unreachable.
func (b *block) abandon() {
	b.device.memory.abandoning.RLock()
	defer b.device.memory.abandoning.RUnlock()
	if b.keepLost {
		if b.state.CompareAndSwap(0, shut) {
			b.device.memory.leaked(b)
		}
		return
	}
	if b.close() == nil {
		b.device.memory.leaked(b)
	}
}

// free frees the memory once, after the work of all streams that used it.
func (b *block) free() error {
	if b.freed.Swap(true) {
		return nil
	}
	b.mu.Lock()
	users := slices.DeleteFunc(b.users, (*Stream).idle)
	if len(users) == 0 && b.home != nil && !b.home.idle() {
		users = append(users, b.home)
	}
	b.users, b.home = nil, nil
	b.mu.Unlock()
	b.recent.Store(nil)
	return b.device.free(b, users)
}
