package vulkan

import (
	"errors"
	"fmt"
	"time"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

// clock is the clock of a device's timestamps.
type clock struct {
	tick float64 // nanoseconds
	bits uint32  // of a timestamp that are valid; 0 if the device has no timestamps
}

// between returns the time from one timestamp to a later one. The clock may have wrapped around once.
func (c clock) between(from, to uint64) time.Duration {
	return time.Duration(c.tick * float64((to-from)<<(64-c.bits)>>(64-c.bits)))
}

// mark implements driver.Mark by a timestamp. The lock of the device guards its fields.
type mark struct {
	queue *queue
	at    uint64
	known bool // its commands are done
}

// Mark implements driver.Queue.
func (q *queue) Mark() (driver.Mark, error) {
	m := &mark{queue: q}
	return m, q.work(func() error {
		if q.backend.clock.bits == 0 {
			return nil
		}
		return q.stamp(m)
	})
}

// stamp records a timestamp for a mark. A queue has a query for each command that it collects.
func (q *queue) stamp(m *mark) (err error) {
	b := q.backend
	if q.queries == 0 {
		if q.queries, err = b.CreateQueryPool(b.device, mostCommands); err != nil {
			return fmt.Errorf("vulkan: making an event: %w", outOfMemory(err))
		}
	}
	if len(q.marks) == 0 {
		b.ResetQueries(q.commands, q.queries, mostCommands)
	}
	b.WriteTimestamp(q.commands, q.queries, uint32(len(q.marks)))
	q.marks = append(q.marks, m)
	return nil
}

// readMarks reads the timestamps of the commands that are done.
func (q *queue) readMarks() error {
	if len(q.marks) == 0 {
		return nil
	}
	b := q.backend
	stamps, err := b.QueryResults(b.device, q.queries, len(q.marks))
	if err != nil {
		return err
	}
	for i, m := range q.marks {
		m.at, m.known = stamps[i], true
	}
	return nil
}

var errNoTime = errors.New("vulkan: the event has no time: its stream has not been waited for, or has failed")

// Since implements driver.Mark.
func (m *mark) Since(earlier driver.Mark) (time.Duration, error) {
	b, e := m.queue.backend, earlier.(*mark)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.clock.bits == 0:
		return 0, fmt.Errorf("vulkan: the time of an event: %w", driver.ErrUnsupported)
	case !m.known || !e.known:
		return 0, errNoTime
	}
	return b.clock.between(e.at, m.at), nil
}

// Free implements driver.Mark.
func (m *mark) Free() error { return nil }

// newClock returns the clock of the queues of a family.
func (s *session) newClock(p vulkansys.PhysicalDevice, f vulkansys.QueueFamily) clock {
	all, _ := vulkansys.NewDriverProperties()
	s.Properties(p, all)
	return clock{float64(all.Limits.TimestampPeriod), f.TimestampBits}
}
