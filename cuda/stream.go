package cuda

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// queue is a stream of the driver with what it needs to launch. It implements device.Queue.
//
// Lifetimes: held keeps alive what downloads write to; launch is the one argument struct of
// all launches, so that they allocate nothing.
type queue struct {
	backend *backend
	stream  cudasys.Stream

	mu       sync.Mutex
	closed   bool
	launch   *cudasys.Launch
	launches uint32
	env      *environment // nil until a kernel needs it
	held     [][]byte
}

// NewQueue implements device.Backend. The stream does not wait for the process's default
// stream.
func (b *backend) NewQueue() (device.Queue, error) {
	q := &queue{backend: b, launch: new(cudasys.Launch)}
	err := b.do("cuStreamCreateWithPriority", func() cudasys.Status {
		s := b.driver.StreamCreateWithPriority(&q.stream, cudasys.StreamNonBlocking, 0)
		if s == cudasys.Success {
			own(b, b.queues, q)
		}
		return s
	})
	if err != nil {
		return nil, err
	}
	q.launch.Stream = q.stream
	return q, nil
}

// do calls the driver for an open queue, whose lock is held.
func (q *queue) do(name string, f func() cudasys.Status) error {
	if q.closed {
		return errClosed("stream")
	}
	return q.backend.do(name, f)
}

// Upload implements device.Queue. For memory that is not pinned the driver returns when it
// has its own copy of src.
func (q *queue) Upload(dst uintptr, src []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.do("cuMemcpyHtoDAsync", func() cudasys.Status {
		return q.backend.driver.MemcpyHtoDAsync(dst, src, q.stream)
	})
	if err != nil {
		return about(err, bytesText(len(src)))
	}
	return nil
}

// Download implements device.Queue.
func (q *queue) Download(dst []byte, src uintptr) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.do("cuMemcpyDtoHAsync", func() cudasys.Status {
		return q.backend.driver.MemcpyDtoHAsync(dst, src, q.stream)
	})
	if err != nil {
		return about(err, bytesText(len(dst)))
	}
	q.held = append(q.held, dst)
	return nil
}

// Copy implements device.Queue.
func (q *queue) Copy(dst, src uintptr, n int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.do("cuMemcpyDtoDAsync", func() cudasys.Status {
		return q.backend.driver.MemcpyDtoDAsync(dst, src, uintptr(n), q.stream)
	})
	if err != nil {
		return about(err, bytesText(n))
	}
	return nil
}

// Zero implements device.Queue.
func (q *queue) Zero(dst uintptr, n int) error {
	if n == 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.do("cuMemsetD8Async", func() cudasys.Status {
		return q.backend.driver.MemsetD8Async(dst, 0, uintptr(n), q.stream)
	})
	if err != nil {
		return about(err, bytesText(n))
	}
	return nil
}

// Wait implements device.Queue.
func (q *queue) Wait(ctx context.Context) (device.Outcome, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return device.Outcome{}, errClosed("stream")
	}
	return q.wait(ctx, q.backend.do)
}

// doer is backend.do or backend.call.
type doer func(name string, f func() cudasys.Status) error

// wait waits for the work and takes what kernels left.
func (q *queue) wait(ctx context.Context, do doer) (device.Outcome, error) {
	if err := q.env.fetch(do); err != nil {
		return device.Outcome{}, err
	}
	if err := q.poll(ctx, do); err != nil {
		return device.Outcome{}, err
	}
	clear(q.held)
	q.held = q.held[:0]
	return q.env.take(do)
}

// A wait polls without a pause for as long as short kernels take, then with pauses that add at
// most a tenth to the time that it has taken so far.
const (
	pollBusy   = 200 * time.Microsecond
	pauseLeast = 20 * time.Microsecond
	pauseMost  = time.Millisecond
)

// poll waits until the stream's work is done or ctx is. It asks the driver again and again
// because a goroutine that waits inside the driver would hold a thread.
func (q *queue) poll(ctx context.Context, do doer) error {
	query := func() cudasys.Status { return q.backend.driver.StreamQuery(q.stream) }
	for start := time.Now(); ; {
		err := do("cuStreamQuery", query)
		if e, ok := err.(*Error); !ok || e.Status != cudasys.NotReady {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		waited := time.Since(start)
		if waited < pollBusy {
			runtime.Gosched()
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(max(waited/10, pauseLeast), pauseMost)):
		}
	}
}

// Close implements device.Queue. A fault that no Wait has returned is returned here.
func (q *queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errClosed("stream")
	}
	return q.release(q.backend.do)
}

// free is Close for a device that is being closed.
func (q *queue) free() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.release(q.backend.call)
}

// release waits, then frees the stream and its environment, whatever fails on the way, and
// returns the first error.
func (q *queue) release(do doer) error {
	out, first := q.wait(context.Background(), do)
	q.closed = true
	forget(q.backend, q.backend.queues, q)
	if first == nil && out.Fault != nil {
		first = out.Fault
	}
	if err := q.env.free(do); first == nil {
		first = err
	}
	err := do("cuStreamDestroy", func() cudasys.Status { return q.backend.driver.StreamDestroy(q.stream) })
	if first == nil {
		first = err
	}
	q.held = nil
	return first
}
