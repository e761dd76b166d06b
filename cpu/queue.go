package cpu

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/turn"
)

// queue implements driver.Queue. Each operation runs inside the call that enqueues it, and holds
// the turn while it runs. That may be forever, because a kernel cannot be stopped; so nothing else
// waits for the turn without a time limit.
type queue struct {
	backend *backend
	prints  prints
	running atomic.Pointer[driver.Kernel] // nil between launches
	waited  atomic.Bool                   // the last Wait ended with its context

	turn   turn.Turn // the holder of the turn owns the fields below
	launch launch
	closed bool

	mu    sync.Mutex
	fault *driver.Fault // of the first launch that faulted since the last Take
}

// Launch implements driver.Queue.
func (q *queue) Launch(p *driver.Plan) error {
	q.turn.Take()
	defer q.turn.Give()
	k := p.Kernel()
	if err := q.open(); err != nil {
		return err
	}
	if k.Native == nil {
		return fmt.Errorf("cpu: %s has no Go function: %w", k.Name, driver.ErrNoVariant)
	}
	if err := q.checkSlices(p); err != nil {
		return fmt.Errorf("%s: %w", k.Name, err)
	}
	if g := p.Options(); g.Cooperative && g.Blocks.Count()*g.Block.Count() > maxCooperative {
		return fmt.Errorf("cpu: %s: a cooperative launch of %v blocks of %v threads: at most %d threads can run at the same time: %w", k.Name, g.Blocks, g.Block, maxCooperative, driver.ErrGrid)
	}
	p.SetHidden(nil, 0, q.launch.number, 0)
	q.running.Store(k)
	fault := q.launch.run(p, q.backend.tier(k))
	q.running.Store(nil)
	if fault != nil {
		q.keep(fault)
	}
	return nil
}

// keep records the fault of the launch that has just run, unless there is one already.
func (q *queue) keep(fault *driver.Fault) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fault == nil {
		fault.Launch = int(q.launch.number) // which run has incremented
		q.fault = fault
	}
}

// checkSlices returns an error if the memory of a slice in p's parameter block was freed.
func (q *queue) checkSlices(p *driver.Plan) error {
	for i := range p.Kernel().Params {
		param := &p.Kernel().Params[i]
		if param.Elem == 0 {
			continue
		}
		address, n := sliceAt(p.Params(), param.Offset)
		if address == 0 && n == 0 { // a nil slice
			continue
		}
		if _, err := q.backend.heap.find(address, n*param.Elem); err != nil {
			return fmt.Errorf("%s: %w", param.Name, err)
		}
	}
	return nil
}

// Upload implements driver.Queue.
func (q *queue) Upload(dst uintptr, src []byte) error {
	q.turn.Take()
	defer q.turn.Give()
	to, err := q.find(dst, len(src))
	copy(to, src)
	return err
}

// Download implements driver.Queue.
func (q *queue) Download(dst []byte, src uintptr) error {
	q.turn.Take()
	defer q.turn.Give()
	from, err := q.find(src, len(dst))
	copy(dst, from)
	return err
}

// Copy implements driver.Queue.
func (q *queue) Copy(dst, src uintptr, n int) error {
	q.turn.Take()
	defer q.turn.Give()
	to, err := q.find(dst, n)
	if err != nil {
		return err
	}
	from, err := q.find(src, n)
	copy(to, from)
	return err
}

// Zero implements driver.Queue.
func (q *queue) Zero(dst uintptr, n int) error {
	q.turn.Take()
	defer q.turn.Give()
	to, err := q.find(dst, n)
	clear(to)
	return err
}

// find returns the n bytes at address, or nil and an error.
func (q *queue) find(address uintptr, n int) ([]byte, error) {
	if err := q.open(); err != nil {
		return nil, err
	}
	return q.backend.heap.find(address, n)
}

// Mark implements driver.Queue. All earlier work is done, so the time of the mark is now.
func (q *queue) Mark() (driver.Mark, error) {
	q.turn.Take()
	defer q.turn.Give()
	if err := q.open(); err != nil {
		return nil, err
	}
	return mark(time.Now()), nil
}

// Wait implements driver.Queue. Work of other goroutines may be running.
func (q *queue) Wait(ctx context.Context) error {
	err := q.turn.TakeBefore(ctx)
	q.waited.Store(err != nil)
	if err != nil {
		return fmt.Errorf("cpu: wait: %w", err)
	}
	defer q.turn.Give()
	return q.open()
}

// Take implements driver.Queue.
func (q *queue) Take() (out driver.Outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	out.Fault, q.fault = q.fault, nil
	out.Prints, out.Lost = q.prints.take()
	return out
}

// Close implements driver.Queue. If a kernel is still running, the queue stays valid for it. A Wait that ended with its
// context was long enough, so that closing a device waits for all its queues together.
func (q *queue) Close() error {
	patience := q.backend.patience
	if q.waited.Load() {
		patience = 0
	}
	if !q.turn.TakeWithin(patience) {
		return q.stuck()
	}
	defer q.turn.Give()
	if err := q.open(); err != nil {
		return err
	}
	q.closed = true
	return nil
}

// stuck returns the error of closing a queue whose work has not ended in time. The memory that the
// work uses is kept.
func (q *queue) stuck() error {
	q.backend.abandoned.Store(true)
	what := "a copy"
	if k := q.running.Load(); k != nil {
		what = fmt.Sprintf("kernel %s (%s:%d)", k.Name, k.File, k.Line)
	}
	return fmt.Errorf("cpu: close: %s %w", what, driver.ErrRunning)
}

// open reports whether the queue and its device are open.
func (q *queue) open() error {
	if q.closed {
		return fmt.Errorf("cpu: queue %w", driver.ErrClosed)
	}
	return q.backend.heap.open()
}

// mark implements driver.Mark.
type mark time.Time

// Since implements driver.Mark.
func (m mark) Since(earlier driver.Mark) (time.Duration, error) {
	e, ok := earlier.(mark)
	if !ok {
		return 0, fmt.Errorf("cpu: event: %w", driver.ErrForeign)
	}
	return time.Time(m).Sub(time.Time(e)), nil
}

// Free implements driver.Mark.
func (m mark) Free() error { return nil }
