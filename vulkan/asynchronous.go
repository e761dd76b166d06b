package vulkan

import "github.com/gopherwarp/gopherwarp/device/driver"

// All queues share one queue of the driver, and a barrier follows each command. So a command waits for everything that was submitted
// before it, and a queue waits for another one if the other one's commands are submitted first.

// Done implements driver.Asynchronous.
func (q *queue) Done() (<-chan struct{}, error) {
	b := q.backend
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := q.usable(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	if q.count == 0 {
		close(done)
		return done, nil
	}
	q.submit()
	go func() {
		defer close(done)
		b.mu.Lock()
		defer b.mu.Unlock()
		if q.usable() == nil {
			q.finish()
		}
	}()
	return done, nil
}

// submit starts the collected commands. A failure is kept for Wait. The lock is held.
func (q *queue) submit() {
	if q.count == 0 {
		return
	}
	if err := q.start(); err != nil {
		q.fail(err)
		q.forget()
	}
}

// Peek implements driver.Asynchronous.
func (q *queue) Peek() *driver.Fault {
	q.backend.mu.Lock()
	defer q.backend.mu.Unlock()
	if q.left.Fault != nil || q.env == nil {
		return q.left.Fault
	}
	return driver.DecodeFault(q.env.Record, q.backend.numbered)
}

// Launches implements driver.Asynchronous.
func (q *queue) Launches() uint32 {
	q.backend.mu.Lock()
	defer q.backend.mu.Unlock()
	return q.launches
}

// WaitFor implements driver.Asynchronous.
func (q *queue) WaitFor(m driver.Mark) error { return q.Follow(m.(*mark).queue) }

// Follow implements driver.Asynchronous. It records only the barrier that follows each command.
func (q *queue) Follow(other driver.Queue) error {
	o := other.(*queue)
	if o == q {
		return nil
	}
	return q.work(func() error {
		if !o.closed {
			o.submit()
			q.followed = append(q.followed, o)
		}
		return nil
	})
}
