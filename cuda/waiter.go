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

// point is a place in a stream for which a goroutine can wait, once. It uses an event without
// timing.
type point struct {
	queue *queue
	event cudasys.Event
	seq   uint64        // counts the points of the queue
	done  chan struct{} // closed when the waiter has seen the event; made on demand
	err   error         // the driver's error, if any; set before done is closed
}

// waiter waits for points on behalf of goroutines: inside the driver, each wait would block a thread. One
// goroutine per device polls the driver for all points, and runs only while there are points to wait for.
// A few waiting goroutines first poll themselves for a short time, because waking a goroutine takes as long
// as a short kernel.
//
// Events are recycled: an event is out from the time that a point takes it until the point is reached.
type waiter struct {
	backend  *backend
	spinning atomic.Int32 // goroutines that poll themselves

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

// A wait first polls without pauses for as long as short kernels take or, if few goroutines wait,
// as long as the steps of a model and copies of a gigabyte. After that it pauses between polls; the
// pauses add at most a twentieth to the time that it has taken so far.
const (
	pollBusy   = 200 * time.Microsecond
	pollLong   = 5 * time.Millisecond
	pauseLeast = 20 * time.Microsecond
	pauseMost  = time.Millisecond
	// mostSpinning bounds the processors that waits keep busy.
	mostSpinning = 8
)

// pause returns how long to sleep between polls after having waited for the given time.
func pause(waited time.Duration) time.Duration { return min(max(waited/20, pauseLeast), pauseMost) }

// patience returns how long the n-th goroutine that polls itself does so: long for the first of
// every eight processors.
func patience(n, processors int) time.Duration {
	switch {
	case n <= processors/8:
		return pollLong
	case n <= max(1, min(mostSpinning, processors/2)):
		return pollBusy
	}
	return 0
}

// isReached reports whether the device has reached a point.
func (w *waiter) isReached(p *point) (bool, error) {
	reached := false
	err := w.backend.call("cuEventQuery", func() cudasys.Status {
		s := w.backend.driver.EventQuery(p.event)
		if reached = s == cudasys.Success; s == cudasys.NotReady {
			return cudasys.Success // no error, because each poll would allocate it
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

// spin polls p for a short time, unless enough goroutines are polling.
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
			runtime.Gosched() // with one processor, nothing else could run; on an H200's host, yielding costs 8 of 90 us
		}
		if reached, err := w.isReached(p); reached || err != nil {
			return reached, err
		}
	}
	return false, nil
}

// watch returns a channel that the waiter's goroutine closes when p is reached.
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

// run polls all points until none is left.
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

// heads returns the first point of each queue, or nil if the goroutine should end.
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

// reach removes p from the list and wakes the goroutines that wait for it.
func (w *waiter) reach(p *point, err error) {
	p.err = err
	w.mu.Lock()
	points := w.queues[p.queue]
	at := slices.Index(points, p) // another may have been inserted before it in the meantime
	if points = slices.Delete(points, at, at+1); len(points) > 0 {
		w.queues[p.queue] = points
	} else {
		delete(w.queues, p.queue)
	}
	w.mu.Unlock()
	w.recycle(p)
	close(p.done)
}

// take returns an event to record a point with.
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

// recycle keeps the event of a point that was reached, or never recorded, for reuse.
func (w *waiter) recycle(p *point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spare = append(w.spare, p.event)
	p.event = 0
	if w.out--; w.out == 0 {
		w.quiet.Broadcast()
	}
}

// free waits for the goroutines that use events, then destroys the events of a device that is being
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
