package cuda

import (
	"context"
	"errors"
	"sync"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// queue is a stream of the driver, with everything that its launches need. It implements driver.Queue.
//
// Lifetimes: downloads keeps the destinations of downloads alive. launch is the argument struct of all
// launches, so that they allocate nothing.
//
// Threads: mu is held during driver calls that enqueue work, which protects their structs and their order.
// It is never held while waiting.
type queue struct {
	backend *backend
	stream  cudasys.Stream

	mu        sync.Mutex
	closed    bool
	launch    *cudasys.Launch
	launches  uint32
	ticks     []*point       // one after every 128 launches; those that may not have been reached
	env       *environment   // nil until a kernel needs it
	graphs    []*environment // environments of the graphs that were enqueued since the last flush
	seq       uint64         // of the last point
	fetched   []fetched      // in order
	downloads []download     // in order
	left      driver.Outcome // the outcome of work that was waited for, until Take
}

// NewQueue implements driver.Backend. The stream does not wait for the process's default stream.
func (b *backend) NewQueue() (driver.Queue, error) { return b.NewUrgentQueue(0) }

// NewUrgentQueue implements driver.Prioritizer. In the driver, lower numbers mean higher priority.
func (b *backend) NewUrgentQueue(priority int) (driver.Queue, error) {
	q, err := b.newQueue(priority)
	if err != nil {
		return nil, err
	}
	return q, nil
}

func (b *backend) newQueue(priority int) (*queue, error) {
	least, greatest, err := b.priorities(priority)
	if err != nil {
		return nil, err
	}
	q := &queue{backend: b, launch: new(cudasys.Launch)}
	err = b.do("cuStreamCreateWithPriority", func() cudasys.Status {
		s := b.driver.StreamCreateWithPriority(&q.stream, cudasys.StreamNonBlocking, min(max(int32(-priority), greatest), least))
		if s == cudasys.Success {
			own(b, b.queues, q)
		}
		return s
	})
	if err != nil {
		return nil, err
	}
	q.launch.Context, q.launch.Stream = b.handle, q.stream
	return q, nil
}

// priorities returns the driver's range of priorities. It does not ask the driver for the default
// priority, 0.
func (b *backend) priorities(priority int) (least, greatest int32, err error) {
	if priority == 0 {
		return 0, 0, nil
	}
	err = b.do("cuCtxGetStreamPriorityRange", func() cudasys.Status {
		return b.driver.CtxGetStreamPriorityRange(&least, &greatest)
	})
	return least, greatest, err
}

// doer is backend.do or backend.call.
type doer func(name string, f func() cudasys.Status) error

// do calls the driver for an open queue, whose lock is held.
func (q *queue) do(name string, f func() cudasys.Status) error {
	if q.closed {
		return errClosed("stream")
	}
	return q.backend.do(name, f)
}

// doInContext is do for functions that make the context current themselves.
func (q *queue) doInContext(name string, f func() cudasys.Status) error {
	if q.closed {
		return errClosed("stream")
	}
	return q.backend.doInContext(name, f)
}

// locked is do, except that it takes the lock.
func (q *queue) locked(name string, f func() cudasys.Status) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.do(name, f)
}

// record enqueues a point. The lock is held.
func (q *queue) record(do doer) (*point, error) {
	if q.closed {
		return nil, errClosed("stream")
	}
	w := q.backend.waiter
	event, err := w.take(do)
	if err != nil {
		return nil, err
	}
	q.seq++
	p := &point{queue: q, event: event, seq: q.seq}
	if err := do("cuEventRecord", func() cudasys.Status { return q.backend.driver.EventRecord(event, q.stream) }); err != nil {
		w.recycle(p)
		return nil, err
	}
	return p, nil
}

// flush enqueues a point at which faults and prints can be taken. The lock is held.
func (q *queue) flush(do doer) (*point, error) {
	if q.closed {
		return nil, errClosed("stream")
	}
	envs := q.graphs // whether or not used is set: kernels on other queues may also use these
	if q.env != nil && q.env.used.Load() {
		envs = append(envs, q.env)
	}
	for _, e := range envs {
		f, err := e.fetch(job{q, do})
		if err != nil {
			return nil, err
		}
		q.fetched = append(q.fetched, f)
	}
	q.graphs = nil
	return q.record(do)
}

// The driver blocks the thread of a launch while about a thousand launches of the stream are
// waiting to run. Launches wait in Go before that happens.
const (
	launchesPerTick = 128
	ticksAhead      = 6
)

// throttle waits while too many launches are pending. The lock is held, except during the wait.
func (q *queue) throttle() error {
	p, err := q.record(q.backend.do)
	if err != nil {
		return err
	}
	q.ticks = append(q.ticks, p)
	if len(q.ticks) <= ticksAhead {
		return nil
	}
	first := q.ticks[0]
	q.ticks = q.ticks[1:]
	q.mu.Unlock()
	defer q.mu.Lock()
	return q.backend.waiter.wait(context.Background(), first)
}

// passed removes the ticks up to a point that was reached. The lock is held.
func (q *queue) passed(seq uint64) {
	for len(q.ticks) > 0 && q.ticks[0].seq <= seq {
		q.backend.waiter.recycle(q.ticks[0])
		q.ticks = q.ticks[1:]
	}
}

// Wait implements driver.Queue.
func (q *queue) Wait(ctx context.Context) error { return q.wait(ctx, q.backend.do) }

// Take implements driver.Queue.
func (q *queue) Take() driver.Outcome {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.left
	q.left = driver.Outcome{}
	return out
}

// wait waits for the work and collects faults and prints. If kernels printed, it waits a second
// time, for the copy of the prints.
func (q *queue) wait(ctx context.Context, do doer) error {
	q.mu.Lock()
	p, err := q.flush(do)
	q.mu.Unlock()
	for p != nil && err == nil {
		if err = q.backend.waiter.wait(ctx, p); err == nil {
			p, err = q.collect(p, do)
		}
	}
	return err
}

// collect collects the downloads, faults and prints that are complete at a point that was reached.
// If more will follow, it returns another point to wait for.
func (q *queue) collect(p *point, do doer) (again *point, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.harvest(p.seq)
	q.passed(p.seq)
	more := false
	for len(q.fetched) > 0 && q.fetched[0].seq <= p.seq {
		f := q.fetched[0]
		q.fetched = q.fetched[1:]
		printed, failed := f.env.take(job{q, do}, f.head, p.seq)
		if printed && f.env != q.env {
			f.env.hold()
			q.graphs = append(q.graphs, f.env)
		}
		f.env.drop()
		more = more || printed
		err = errors.Join(err, failed)
	}
	if err == nil && more {
		return q.flush(do)
	}
	return nil, err
}

// Done implements driver.Asynchronous.
func (q *queue) Done() (<-chan struct{}, error) {
	q.mu.Lock()
	p, err := q.record(q.backend.do)
	q.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return q.backend.waiter.watch(p), nil
}

// Peek implements driver.Asynchronous.
func (q *queue) Peek() *driver.Fault {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.left.Fault != nil {
		return q.left.Fault
	}
	fault := q.env.peek()
	for i := 0; fault == nil && i < len(q.graphs); i++ {
		fault = q.graphs[i].peek()
	}
	return fault
}

// Launches implements driver.Asynchronous.
func (q *queue) Launches() uint32 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.launches
}

// Close implements driver.Queue. It returns a fault that Take has not returned.
func (q *queue) Close() error { return q.release(q.backend.do) }

// free is Close for a device that is being closed. A Close of the stream that began before has
// either destroyed the stream or left it to the device.
func (q *queue) free() error {
	if q.gone() {
		return nil
	}
	return q.release(q.backend.call)
}

// release waits, then destroys the stream even if an earlier step fails, and returns the first
// error.
func (q *queue) release(do doer) error {
	first := q.wait(context.Background(), do)
	if out := q.Take(); first == nil && out.Fault != nil {
		first = out.Fault
	}
	if err := q.settle(do); first == nil {
		first = err
	}
	if err := q.destroy(do); first == nil {
		first = err
	}
	return first
}

// destroy destroys the stream, whose work is done. If the device was closed in the meantime, the
// stream stays in the device's set, and the device destroys it.
func (q *queue) destroy(do doer) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errClosed("stream")
	}
	err := do("cuStreamDestroy", func() cudasys.Status { return q.backend.driver.StreamDestroy(q.stream) })
	if errors.Is(err, driver.ErrClosed) {
		return err
	}
	q.closed = true
	q.passed(q.seq)
	forget(q.backend, q.backend.queues, q)
	q.env.retire()
	q.env, q.downloads = nil, nil
	return err
}

// settle waits for work that a wait has enqueued.
func (q *queue) settle(do doer) error {
	q.mu.Lock()
	if q.env == nil || q.closed {
		q.mu.Unlock()
		return nil
	}
	p, err := q.record(do)
	q.mu.Unlock()
	if err != nil {
		return err
	}
	return q.backend.waiter.wait(context.Background(), p)
}
