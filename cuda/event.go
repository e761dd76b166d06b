package cuda

import (
	"errors"
	"fmt"
	"time"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// mark is an event of the driver. It implements driver.Mark.
type mark struct {
	backend *backend
	event   cudasys.Event
}

// Mark implements driver.Queue.
func (q *queue) Mark() (driver.Mark, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.backend
	m := &mark{backend: b}
	err := q.do("cuEventCreate", func() cudasys.Status {
		s := b.driver.EventCreate(&m.event, 0)
		if s == cudasys.Success {
			own(b, b.marks, m)
		}
		return s
	})
	if err != nil {
		return nil, err
	}
	err = q.do("cuEventRecord", func() cudasys.Status { return b.driver.EventRecord(m.event, q.stream) })
	if err != nil {
		return nil, errors.Join(err, m.Free())
	}
	return m, nil
}

// WaitFor implements driver.Asynchronous.
func (q *queue) WaitFor(m driver.Mark) error {
	on, ok := m.(*mark)
	if !ok || on.backend != q.backend {
		return fmt.Errorf("cuda: wait for an event: %w", driver.ErrForeign)
	}
	return q.locked("cuStreamWaitEvent", func() cudasys.Status {
		return q.backend.driver.StreamWaitEvent(q.stream, on.event, 0)
	})
}

// Follow implements driver.Asynchronous.
func (q *queue) Follow(other driver.Queue) error {
	on, ok := other.(*queue)
	if !ok || on.backend != q.backend {
		return fmt.Errorf("cuda: wait for a stream: %w", driver.ErrForeign)
	}
	return q.follow(on)
}

// Since implements driver.Mark. The driver's clock has a resolution of half a microsecond.
func (m *mark) Since(earlier driver.Mark) (time.Duration, error) {
	start, ok := earlier.(*mark)
	if !ok || start.backend != m.backend {
		return 0, fmt.Errorf("cuda: time between events of different devices: %w", driver.ErrForeign)
	}
	var milliseconds float32
	err := m.backend.do("cuEventElapsedTime", func() cudasys.Status {
		return m.backend.driver.EventElapsedTime(&milliseconds, start.event, m.event)
	})
	if err != nil {
		return 0, about(err, "of events that must have been reached")
	}
	return time.Duration(float64(milliseconds) * float64(time.Millisecond)), nil
}

// Free implements driver.Mark.
func (m *mark) Free() error {
	return m.backend.do("cuEventDestroy", m.release)
}

// free is Free for a device that is being closed.
func (m *mark) free() error { return m.backend.call("cuEventDestroy", m.release) }

func (m *mark) release() cudasys.Status {
	if !forget(m.backend, m.backend.marks, m) {
		return cudasys.InvalidHandle
	}
	return m.backend.driver.EventDestroy(m.event)
}
