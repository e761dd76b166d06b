package device

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/stack"
)

// allocation is the handle of a block: the memory is not collected while a buffer or a slice with the
// handle is reachable. Everything else is in the block, which the device refers to as well.
type allocation struct{ *block }

// lease is one use of an allocation, from Make to Close. Buffers and slices contain it. The memory of a
// closed buffer is reused together with its handle, so handles alone do not distinguish the buffers: a
// lease whose term has passed belongs to a buffer that was closed.
type lease struct {
	*allocation
	term int64
}

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
	zeros   bool   // the memory is new, and its bytes were 0 when it was allocated
	made    stack.Stack
	handle  weak.Pointer[allocation]
	keep    []byte // memory of the program that is registered, or nil
	// keepLost is set if the program may refer to the memory without the handle: the block then
	// remains when the handle becomes unreachable.
	keepLost bool
	wrong    error // why a slice cannot be used, if the block is that of an invalid slice, which has no memory

	state  atomic.Int64 // the term, and below it the pins
	open   bool         // a buffer has it; protected by the lock of the accounts, as kept is
	kept   kept
	recent atomic.Pointer[Stream] // in users; the only one that pins without a lock

	share share

	mu    sync.Mutex
	home  *Stream   // in whose order it was allocated, or nil
	users []*Stream // that may have work on it
}

// pinBits is the number of low bits of a block's state that count pins. The bits above them are the
// term, which is even while a buffer has the block, and odd between Close and the next Make.
const pinBits = 24

// newAllocation returns the handle of a block. A cleanup frees the block if the program does not close it.
func newAllocation(b *block) *allocation {
	b.address = b.memory.Address()
	a := &allocation{b}
	b.handle = weak.Make(a)
	runtime.AddCleanup(a, (*block).abandon, b)
	return a
}

// lease returns the present lease of an allocation that is open.
func (a *allocation) lease() lease { return lease{a, a.state.Load() >> pinBits} }

// none reports whether there is no memory: the buffer is nil.
func (l lease) none() bool { return l.allocation == nil }

// closed reports whether Close was called.
func (l lease) closed() bool { return l.state.Load()>>pinBits != l.term }

// pin returns the address for work on s. Each call that succeeds needs an unpin. A stream that
// records has its graph keep the block until the graph is closed.
func (l lease) pin(s *Stream) (uintptr, error) {
	if l.device != s.device {
		return 0, fmt.Errorf("buffer %w", ErrForeign)
	}
	if err := l.hold(); err != nil {
		return 0, err
	}
	if r := s.recorder; r != nil {
		l.usedBy(r)
		r.graph.keep(l.root())
		return l.address, nil
	}
	if l.recent.Load() != s {
		if err := l.join(s); err != nil {
			return 0, join(err, l.unpin())
		}
	}
	return l.address, nil
}

// pinArgument is pin for a launch that r records: its node keeps the block, until the node is updated.
func (l lease) pinArgument(r *recorder) (uintptr, error) {
	if err := l.hold(); err != nil {
		return 0, err
	}
	l.usedBy(r)
	return l.address, nil
}

// hold is pin without a stream.
func (l lease) hold() error {
	for {
		state := l.state.Load()
		if state>>pinBits != l.term {
			return fmt.Errorf("buffer %w", ErrClosed)
		}
		if l.state.CompareAndSwap(state, state+1) {
			break
		}
	}
	if l.share.graph == nil {
		return nil
	}
	if err := l.share.region.hold(); err != nil {
		l.state.Add(-1) // the graph is closed, and with it the buffer
		return err
	}
	return nil
}

// lend is pin for a plan whose queue calls Plan.Closed. It needs no unpin.
func (l lease) lend(s *Stream) (uintptr, error) {
	switch {
	case l.lentTo(s):
		return l.address, nil
	case l.device != s.device:
		return 0, fmt.Errorf("buffer %w", ErrForeign)
	case l.closed():
		return 0, fmt.Errorf("buffer %w", ErrClosed)
	}
	return l.address, l.join(s)
}

// lentTo reports whether lend would return the address without taking a lock. The device is then that of
// s, and s does not record.
func (l lease) lentTo(s *Stream) bool { return l.recent.Load() == s && !l.closed() }

// join adds s to the streams that may have work on the block. If the memory was allocated in the
// order of another stream, it may not exist yet, so the later work of s waits for the present work
// of that stream.
func (b *block) join(s *Stream) error {
	if b.share.graph != nil {
		if err := b.share.region.join(s); err != nil {
			return err
		}
		b.recent.Store(s)
		return nil
	}
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

// unpin undoes a pin, and frees the memory if it was closed in the meantime.
func (b *block) unpin() error {
	var err error
	if state := b.state.Add(-1); state&(1<<pinBits-1) == 0 && isShut(state) {
		err = b.free()
	}
	if b.share.graph != nil {
		err = join(err, b.share.region.unpin())
	}
	return err
}

// isShut reports whether a block with the state is closed.
func isShut(state int64) bool { return state>>pinBits&1 == 1 }

// close frees the memory, now or with the last unpin.
func (l lease) close() error {
	pins, ok := l.shut()
	switch {
	case !ok:
		return fmt.Errorf("buffer %w", ErrClosed)
	case pins == 0:
		return l.free()
	}
	return nil
}

// shut is close for a caller that frees the memory if there are no pins. It reports whether the lease was
// open.
func (l lease) shut() (pins int64, ok bool) {
	for {
		state := l.state.Load()
		if state>>pinBits != l.term {
			return 0, false
		}
		if l.state.CompareAndSwap(state, state+1<<pinBits) {
			return state & (1<<pinBits - 1), true
		}
	}
}

// abandon closes a block whose handle is unreachable.
func (b *block) abandon() {
	b.device.memory.abandoning.RLock()
	defer b.device.memory.abandoning.RUnlock()
	for {
		state := b.state.Load()
		if isShut(state) || b.keepLost && state&(1<<pinBits-1) != 0 {
			return
		}
		if b.state.CompareAndSwap(state, state+1<<pinBits) {
			if b.keepLost || state&(1<<pinBits-1) != 0 || b.free() == nil { // a device that is closed has freed it
				b.device.memory.leaked(b)
			}
			return
		}
	}
}

// free frees the memory after the work of all streams that used it. It is called once in each term.
func (b *block) free() error {
	if b.share.graph != nil {
		return b.share.graph.reclaim(b)
	}
	var few [4]*Stream
	b.mu.Lock()
	users := slices.DeleteFunc(append(few[:0], b.users...), (*Stream).idle)
	if len(users) == 0 && b.home != nil && !b.home.idle() {
		users = append(users, b.home)
	}
	b.users, b.home = b.users[:0], nil
	b.mu.Unlock()
	b.recent.Store(nil)
	return b.device.free(b, users)
}

// renew opens a block that the arena kept, for a buffer of s, and returns its lease.
func (b *block) renew(a *allocation, s *Stream) lease {
	b.mu.Lock()
	b.home = s
	b.users = append(b.users[:0], s)
	b.mu.Unlock()
	b.recent.Store(s)
	return lease{a, b.state.Add(1<<pinBits) >> pinBits}
}
