package cuda

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// transfer is a copy of n bytes of ordinary memory that several goroutines share, chunk by chunk.
// It calls start with a slot that the device does not use; start enqueues the device's copy. It
// calls finish, which may be nil, after the same goroutine has started its next chunk, so that the
// device always has work.
type transfer struct {
	stage         *stage
	n             int
	start, finish func(s *slot, at, n int) error

	workers int
	least   int // least bytes of a chunk
	next    atomic.Int64
	failed  atomic.Pointer[error]
}

// piece is a chunk that was started. The slot is nil if there is no chunk.
type piece struct {
	slot  *slot
	at, n int
}

// run returns after all chunks are done, or after an error.
func (t *transfer) run() error {
	sizes := t.stage.sizes
	t.workers = max(1, min(sizes.workers, runtime.GOMAXPROCS(0), t.stage.worth(t.n)))
	t.least = min(max(t.n/(2*t.workers), sizes.least), sizes.most, sizes.slot) &^ 4095
	var others sync.WaitGroup
	for range min(t.workers, (t.n+t.least-1)/t.least) - 1 {
		others.Go(t.work)
	}
	t.work()
	others.Wait()
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// work processes chunks until none is left. A goroutine that waits for a slot holds none, so
// goroutines cannot deadlock.
func (t *transfer) work() {
	var before piece
	for t.failed.Load() == nil {
		at, n := t.take()
		if n == 0 {
			break
		}
		s, err := t.stage.spare()
		if s == nil && err == nil {
			t.end(before)
			before, s = piece{}, <-t.stage.slots
		}
		now := piece{s, at, n}
		t.begin(now, err)
		if t.finish == nil {
			t.end(now)
			continue
		}
		t.end(before)
		before = now
	}
	t.end(before)
}

// take returns the next chunk, which has 0 bytes if none is left. Each chunk costs some
// microseconds in which the device copies nothing, so chunks are large. They are small at the
// start, when the device has no work yet, and at the end, when some goroutines have no more work.
func (t *transfer) take() (at, n int) {
	for {
		at := int(t.next.Load())
		rest := t.n - at
		n := min(max(min(at/t.workers+t.least, rest/t.workers), t.least), t.stage.sizes.slot) &^ 4095
		n = min(n, rest)
		if n == 0 || t.next.CompareAndSwap(int64(at), int64(at+n)) {
			return at, n
		}
	}
}

// begin starts a piece, unless an error has occurred.
func (t *transfer) begin(p piece, err error) {
	if err == nil {
		err = t.stage.settle(p.slot)
	}
	if err == nil {
		err = t.start(p.slot, p.at, p.n)
	}
	if err != nil {
		t.failed.CompareAndSwap(nil, &err)
	}
}

// end finishes a piece and gives its slot back.
func (t *transfer) end(p piece) {
	if p.slot == nil {
		return
	}
	if t.finish != nil && t.failed.Load() == nil {
		if err := t.finish(p.slot, p.at, p.n); err != nil {
			t.failed.CompareAndSwap(nil, &err)
		}
	}
	t.stage.slots <- p.slot
}

// downloadNow downloads through slots, and waits.
func (q *queue) downloadNow(dst []byte, src uintptr) error {
	st := q.backend.stage
	p, err := q.here()
	if err == nil {
		err = q.backend.waiter.wait(context.Background(), p)
	}
	if err != nil {
		return err
	}
	q.mu.Lock()
	q.harvest(p.seq) // frees the slots that the wait's downloads borrowed
	q.mu.Unlock()
	t := transfer{stage: st, n: len(dst)}
	t.start = func(s *slot, at, n int) error {
		return q.through(s, func() cudasys.Status {
			return q.backend.driver.MemcpyDtoHAsync(s.bytes[:n], src+uintptr(at), q.stream)
		}, "cuMemcpyDtoHAsync")
	}
	t.finish = func(s *slot, at, n int) error {
		if err := st.settle(s); err != nil {
			return err
		}
		st.sizes.empty(dst[at:at+n], s.bytes[:n])
		return nil
	}
	return t.run()
}

// here enqueues a point.
func (q *queue) here() (*point, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.record(q.backend.do)
}
