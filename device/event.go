package device

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Event is a point in the work of a stream. Its methods may be called from any goroutine.
type Event struct {
	device  *Device
	mark    driver.Mark
	sources []source
	closed  atomic.Bool
}

// Record enqueues an event on the stream.
func (s *Stream) Record() (*Event, error) {
	e := &Event{device: s.device}
	err := s.enqueue(func(q driver.Queue) (err error) {
		e.mark, err = q.Mark()
		return err
	})
	if err != nil {
		return nil, err
	}
	e.sources = s.sourcesHere()
	return e, nil
}

// WaitFor makes the stream's later work wait for an event of the same device. The caller does not wait.
// A fault of the work before the event becomes a fault of the stream too.
func (s *Stream) WaitFor(e *Event) error {
	err := s.enqueue(func(q driver.Queue) error {
		switch {
		case e == nil:
			return fmt.Errorf("device: wait for a nil event: %w", ErrNilBuffer)
		case e.closed.Load():
			return fmt.Errorf("device: event %w", ErrClosed)
		case e.device != s.device:
			return fmt.Errorf("device: event %w", ErrForeign)
		case s.recorder != nil:
			return fmt.Errorf("device: wait for an event: %w", ErrCapture)
		}
		return waitFor(q, e.mark)
	})
	if err == nil {
		s.adopt(e.sources)
	}
	return err
}

// waitFor makes q wait for m. A queue that is not asynchronous has no work to wait for.
func waitFor(q driver.Queue, m driver.Mark) error {
	if a, ok := q.(driver.Asynchronous); ok {
		return a.WaitFor(m)
	}
	return nil
}

// follow makes the later work of s wait for the present work of other.
func (s *Stream) follow(other *Stream) error {
	if s.later == nil || other.idle() {
		return nil
	}
	if err := s.later.Follow(other.queue); !errors.Is(err, ErrClosed) || !other.closing() {
		return err
	}
	return nil // a stream closes when its work is done
}

// Since returns the time from start to e, as the device measured it. Both events belong to the same
// device. Before this call, the program must have waited for both, with Synchronize.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if e.closed.Load() || start.closed.Load() {
		return 0, fmt.Errorf("device: event %w", ErrClosed)
	}
	if e.device != start.device {
		return 0, fmt.Errorf("device: event %w", ErrForeign)
	}
	return e.mark.Since(start.mark)
}

// Close frees the event. Streams that wait for the event continue to wait.
func (e *Event) Close() error {
	if e.closed.Swap(true) {
		return fmt.Errorf("device: event %w", ErrClosed)
	}
	return e.mark.Free()
}

// Scope calls f with a new stream, waits for the stream's work and closes the stream. It returns the
// errors of f and of the work. If ctx is done first, Scope returns the error of ctx at once; the work
// continues, and the stream is closed later.
func (d *Device) Scope(ctx context.Context, f func(s *Stream) error) error {
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	err = f(s)
	if waited := s.Synchronize(ctx); !errors.Is(err, waited) { // f has mostly returned the error that stuck to s
		err = join(err, waited)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		go func() { _ = s.Close() }() // nobody is left to receive its errors
		return err
	}
	return join(err, s.Close())
}
