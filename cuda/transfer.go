package cuda

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// transfer is a copy of n bytes of ordinary memory, of which several goroutines take chunk after
// chunk. Start is called with a slot that the device does not use, and enqueues the device's copy;
// finish, which may be nil, is called when the same goroutine has started its next chunk, so that
// the device has something to do meanwhile.
type transfer struct {
	stage         *stage
	n             int
	start, finish func(s *slot, at, n int) error

	workers int
	least   int // bytes of a chunk
	next    atomic.Int64
	failed  atomic.Pointer[error]
}

// piece is a chunk that was started. The slot is nil where there is none.
type piece struct {
	slot  *slot
	at, n int
}

// run returns when all chunks are done, or with an error of one.
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

// work does chunks until none is left. Whoever waits for a slot has none, so that goroutines do not
// wait for each other.
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

// take returns the next chunk, of 0 bytes where none is left. Each costs the device some
// microseconds in which it copies nothing, so chunks are large; but small at the start, when the
// device has nothing to do yet, and at the end, when goroutines have nothing to do any more.
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

// begin starts a piece, unless there was an error before.
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
	q.harvest(p.seq) // so that the slots that it had lent are there
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
