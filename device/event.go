package device

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Event is a point in a stream. Its methods may be called from any goroutine.
type Event struct {
	device *Device
	mark   Mark
	closed atomic.Bool
}

// Record enqueues an event.
func (s *Stream) Record() (*Event, error) {
	e := &Event{device: s.device}
	err := s.enqueue(func(q Queue) (err error) {
		e.mark, err = q.Mark()
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Since returns the device's time from start, an event of the same device, to e. Both must
// have been waited for.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if e.closed.Load() || start.closed.Load() {
		return 0, fmt.Errorf("device: event %w", ErrClosed)
	}
	if e.device != start.device {
		return 0, fmt.Errorf("device: event %w", ErrForeign)
	}
	return e.mark.Since(start.mark)
}

// Close frees the event.
func (e *Event) Close() error {
	if e.closed.Swap(true) {
		return fmt.Errorf("device: event %w", ErrClosed)
	}
	return e.mark.Free()
}
