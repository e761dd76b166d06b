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

// allocation is what buffers and the slices of them share: as long as the program can reach
// one of them, the collector leaves the memory alone. All else is in the block, which the
// device keeps too.
type allocation struct{ *block }

// block is memory that kernels can use.
//
// Lifetimes: whoever hands the address to a backend pins the block from before it asks for
// the address until the backend has taken the work. The memory goes back with the last of
// Close and the unpinning, behind all work of all streams that ever pinned it: so a buffer
// that one goroutine closes while another enqueues work on it is either refused or freed after
// that work, and Close waits for nothing. A block that the program has lost goes the same way,
// when the collector finds out. The plans of an Asynchronous queue pin nothing, which costs two locked
// instructions an argument: the queue asks Plan.Closed instead, with the lock held that freeing behind
// its work takes, so that what is closed later is freed later.
type block struct {
	device  *Device
	memory  driver.Memory
	address uintptr // of memory
	size    int
	kind    string // what the owners' list calls it
	made    callers
	handle  weak.Pointer[allocation]
	keep    []byte // memory of the program that is registered, or nil
	// keepLost says that the program may have addresses in the block that are no handle: it
	// stays when the handle is lost.
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

// newAllocation returns the handle of a block, which is freed late where the program forgets
// to close it.
func newAllocation(b *block) *allocation {
	b.address = b.memory.Address()
	a := &allocation{b}
	b.handle = weak.Make(a)
	runtime.AddCleanup(a, (*block).abandon, b)
	return a
}

// pin returns the address for work on s. Each call that succeeds needs an unpin. A stream that
// records has its graph keep the block.
func (a *allocation) pin(s *Stream) (uintptr, error) {
	b := a.block
	if b.device != s.device {
		return 0, fmt.Errorf("buffer %w", ErrForeign)
	}
	if s.recorder != nil {
		if err := s.recorder.hold(a); err != nil {
			return 0, err
		}
		b.state.Add(1)
		return b.address, nil
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

// lend is pin for a plan whose queue asks whether it was closed. There is nothing to undo.
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

// join adds s to those that may have work on the block. What s does from now on comes behind
// what the stream in whose order the memory was allocated has done so far: the memory may not
// be there earlier.
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

// unpin undoes a pin, and frees memory that was closed meanwhile.
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

// abandon frees the memory of a handle that nobody can reach any more.
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

// free gives the memory back once, behind the work of all that used it.
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
