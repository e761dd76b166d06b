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

	chunk  int
	next   atomic.Int64
	failed atomic.Pointer[error]
}

// piece is a chunk that was started. The slot is nil where there is none.
type piece struct {
	slot  *slot
	at, n int
}

// run returns when all chunks are done, or with an error of one.
func (t *transfer) run() error {
	sizes := t.stage.sizes
	workers := max(1, min(sizes.workers, runtime.GOMAXPROCS(0)))
	t.chunk = min(max(t.n/(2*workers), sizes.least), sizes.slot) &^ 4095
	var others sync.WaitGroup
	for range min(workers, (t.n+t.chunk-1)/t.chunk) - 1 {
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
		at := int(t.next.Add(int64(t.chunk))) - t.chunk
		if at >= t.n {
			break
		}
		s, err := t.stage.spare()
		if s == nil && err == nil {
			t.end(before)
			before, s = piece{}, <-t.stage.slots
		}
		now := piece{s, at, min(t.chunk, t.n-at)}
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
