package cuda

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// point is a place in a stream that can be waited for, once: an event without a time.
type point struct {
	queue *queue
	event cudasys.Event
	seq   uint64        // counts the points of the queue
	done  chan struct{} // closed when the waiter has seen the event; made when that is needed
	err   error         // what the driver said instead; set before done is closed
}

// waiter waits for points on behalf of goroutines, which would each hold a thread if they
// waited inside the driver. One goroutine of a device asks the driver for all of them, and is
// there only while there is something to wait for. A few that wait ask by themselves for a
// while, because waking a goroutine takes as long as a short kernel.
//
// Events are recycled: one is out from when a point takes it until the point was reached.
type waiter struct {
	backend  *backend
	spinning atomic.Int32 // goroutines that ask by themselves

	mu      sync.Mutex
	quiet   sync.Cond // signalled when out becomes 0 or running false
	queues  map[*queue][]*point
	running bool
	spare   []cudasys.Event
	out     int
}

func newWaiter(b *backend) *waiter {
	w := &waiter{backend: b, queues: map[*queue][]*point{}}
	w.quiet.L = &w.mu
	return w
}

// A wait asks without a pause for as long as short kernels take, and where few wait, as long as
// the steps of a model and copies of a gigabyte; then with pauses that add at most a twentieth to the
// time that it has taken so far.
const (
	pollBusy   = 200 * time.Microsecond
	pollLong   = 5 * time.Millisecond
	pauseLeast = 20 * time.Microsecond
	pauseMost  = time.Millisecond
	// mostSpinning bounds the processors that waits keep busy.
	mostSpinning = 8
)

// pause returns how long to sleep after having waited so long.
func pause(waited time.Duration) time.Duration { return min(max(waited/20, pauseLeast), pauseMost) }

// patience returns how long the n-th goroutine that asks by itself does so: the first of every eight
// processors for long.
func patience(n, processors int) time.Duration {
	switch {
	case n <= processors/8:
		return pollLong
	case n <= max(1, min(mostSpinning, processors/2)):
		return pollBusy
	}
	return 0
}

// isReached asks whether the device has come to a point.
func (w *waiter) isReached(p *point) (bool, error) {
	reached := false
	err := w.backend.call("cuEventQuery", func() cudasys.Status {
		s := w.backend.driver.EventQuery(p.event)
		if reached = s == cudasys.Success; s == cudasys.NotReady {
			return cudasys.Success // no error, which would be allocated at each question
		}
		return s
	})
	return reached && err == nil, err
}

// wait waits until p is reached or ctx is done.
func (w *waiter) wait(ctx context.Context, p *point) error {
	if reached, err := w.spin(ctx, p); reached || err != nil {
		w.recycle(p)
		return err
	}
	select {
	case <-w.watch(p):
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// spin asks for p for a short while, unless enough goroutines do so.
func (w *waiter) spin(ctx context.Context, p *point) (bool, error) {
	reached, err := w.isReached(p)
	if reached || err != nil || ctx.Err() != nil {
		return reached, err
	}
	defer w.spinning.Add(-1)
	processors := runtime.GOMAXPROCS(0)
	long := patience(int(w.spinning.Add(1)), processors)
	for start := time.Now(); time.Since(start) < long && ctx.Err() == nil; {
		if processors == 1 {
			runtime.Gosched() // others have the other processors; on an H200's host it costs 8 us of 90
		}
		if reached, err := w.isReached(p); reached || err != nil {
			return reached, err
		}
	}
	return false, nil
}

// watch has the waiter's goroutine close the returned channel when p is reached.
func (w *waiter) watch(p *point) <-chan struct{} {
	p.done = make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	points := w.queues[p.queue]
	at, _ := slices.BinarySearchFunc(points, p.seq, func(p *point, seq uint64) int { return cmp.Compare(p.seq, seq) })
	w.queues[p.queue] = slices.Insert(points, at, p)
	if !w.running {
		w.running = true
		go w.run()
	}
	return p.done
}

// run asks for all points until none is left.
func (w *waiter) run() {
	for last := time.Now(); ; {
		heads := w.heads()
		if heads == nil {
			return
		}
		for _, p := range heads {
			if reached, err := w.isReached(p); reached || err != nil {
				w.reach(p, err)
				last = time.Now()
			}
		}
		if waited := time.Since(last); waited < pollBusy {
			runtime.Gosched()
		} else {
			sleep(pause(waited))
		}
	}
}

// heads returns the first point of each queue, or nil when the goroutine is to end.
func (w *waiter) heads() []*point {
	w.mu.Lock()
	defer w.mu.Unlock()
	var heads []*point
	for _, points := range w.queues {
		heads = append(heads, points[0])
	}
	if w.running = heads != nil; !w.running {
		w.quiet.Broadcast()
	}
	return heads
}

// reach takes p off the list and wakes who waits for it.
func (w *waiter) reach(p *point, err error) {
	p.err = err
	w.mu.Lock()
	points := w.queues[p.queue]
	at := slices.Index(points, p) // another may have come before it meanwhile
	if points = slices.Delete(points, at, at+1); len(points) > 0 {
		w.queues[p.queue] = points
	} else {
		delete(w.queues, p.queue)
	}
	w.mu.Unlock()
	w.recycle(p)
	close(p.done)
}

// event returns an event to record a point with.
func (w *waiter) take(do doer) (cudasys.Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.spare); n > 0 {
		e := w.spare[n-1]
		w.spare = w.spare[:n-1]
		w.out++
		return e, nil
	}
	var e cudasys.Event
	err := do("cuEventCreate", func() cudasys.Status {
		return w.backend.driver.EventCreate(&e, cudasys.EventDisableTiming)
	})
	if err == nil {
		w.out++
	}
	return e, err
}

// recycle keeps the event of a point that was reached or never recorded.
func (w *waiter) recycle(p *point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spare = append(w.spare, p.event)
	p.event = 0
	if w.out--; w.out == 0 {
		w.quiet.Broadcast()
	}
}

// free waits for the goroutines that use events and destroys these, for a device that is being
// closed and whose work is done. It returns the first error.
func (w *waiter) free() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.out > 0 || w.running {
		w.quiet.Wait()
	}
	var first error
	for _, e := range w.spare {
		err := w.backend.call("cuEventDestroy", func() cudasys.Status { return w.backend.driver.EventDestroy(e) })
		if first == nil {
			first = err
		}
	}
	w.spare = nil
	return first
}
