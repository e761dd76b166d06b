package ptxinterp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/machine"
)

// queue implements driver.Queue. Work is done at once. What a kernel does wrong is kept for
// Wait, and the work after it is left out, as on a GPU, where it would not have begun.
type queue struct {
	backend  *backend
	env      *environment // nil until a kernel needs it
	launches uint32
	failed   error
	found    []machine.Finding
	closed   bool
	stop     atomic.Bool // the kernel that runs

	mu   sync.Mutex
	left driver.Outcome // of work that was waited for
}

// NewQueue implements driver.Backend.
func (b *backend) NewQueue() (driver.Queue, error) {
	b.turn.Take()
	defer b.turn.Give()
	if err := b.open(); err != nil {
		return nil, err
	}
	return &queue{backend: b}, nil
}

// do calls f with the turn of the device.
func (q *queue) do(f func() error) error {
	q.backend.turn.Take()
	defer q.backend.turn.Give()
	return q.then(f)
}

// then calls f, if the device and the queue are open. The turn is taken.
func (q *queue) then(f func() error) error {
	if err := q.backend.open(); err != nil {
		return err
	}
	if q.closed {
		return fmt.Errorf("ptxinterp: stream %w", driver.ErrClosed)
	}
	return f()
}

// work is do for work that is left out after a failure.
func (q *queue) work(f func() error) error {
	return q.do(func() error {
		if q.failed != nil {
			return nil
		}
		return f()
	})
}

// Launch implements driver.Queue.
func (q *queue) Launch(p *driver.Plan) error {
	return q.work(func() error {
		before := q.backend.last
		q.backend.last = q
		k := p.Kernel()
		fit := p.Fit()
		fit.Narrow = fit.Narrow && !q.backend.options.Wide
		if q.backend.options.Plain {
			fit.Line, fit.Aligned = false, false
		}
		l := q.backend.load(k, fit)
		if l.err != nil {
			return l.err
		}
		var env uint64
		if k.Environment() {
			if err := q.environment(); err != nil {
				return err
			}
			env = q.env.addresses[0]
		}
		p.SetHidden(&l.variant, env, q.launches, l.number)
		q.launches++
		_, block := p.Grid()
		// The view of the plan's parameter block lives only as long as this call runs.
		params := unsafe.Slice((*byte)(p.Params()), l.variant.ParamBytes(k))
		q.backend.running.Store(q)
		defer q.backend.running.Store(nil)
		stats, err := l.kernel.Run(machine.Launch{
			Grid: l.variant.Blocks(p), Block: block, Params: params, Shared: p.Shared(&l.variant),
			Together: p.Options().Cooperative, Cluster: p.Cluster(), Overlaps: p.Overlaps() && l.variant.Awaits && before == q,
			Seed: q.backend.options.Seed, Budget: q.backend.options.Budget, Stop: &q.stop,
			Traffic: q.backend.options.Traffic != nil,
			Name:    func(address uint64) string { return named(k, params, address) },
		})
		q.keep(stats.Findings)
		if stats.Traffic != nil {
			q.backend.traffic.AddTable(stats.Traffic)
		}
		if err != nil {
			q.failed = fmt.Errorf("ptxinterp: %w", err)
		}
		return nil
	})
}

// Upload implements driver.Queue.
func (q *queue) Upload(dst uintptr, src []byte) error {
	return q.transfer("upload", dst, len(src), func(p []byte) error {
		copy(p, src)
		q.backend.memory.Written(uint64(dst), len(p))
		return nil
	})
}

// Download implements driver.Queue.
func (q *queue) Download(dst []byte, src uintptr) error {
	return q.transfer("download", src, len(dst), func(p []byte) error { copy(dst, p); return nil })
}

// Copy implements driver.Queue.
func (q *queue) Copy(dst, src uintptr, n int) error {
	return q.transfer("copy", dst, n, func(to []byte) error {
		from, err := q.backend.memory.Bytes(uint64(src), n)
		copy(to, from)
		q.backend.memory.Copied(uint64(dst), uint64(src), n)
		return err
	})
}

// Zero implements driver.Queue.
func (q *queue) Zero(dst uintptr, n int) error {
	return q.transfer("zero", dst, n, func(p []byte) error {
		clear(p)
		q.backend.memory.Written(uint64(dst), n)
		return nil
	})
}

// transfer calls f with the n bytes at an address.
func (q *queue) transfer(verb string, address uintptr, n int, f func([]byte) error) error {
	return q.work(func() error {
		q.backend.last = nil
		p, err := q.backend.memory.Bytes(uint64(address), n)
		if err == nil {
			err = f(p)
		}
		if err != nil {
			return fmt.Errorf("ptxinterp: %s: %w", verb, err)
		}
		return nil
	})
}

// Mark implements driver.Queue.
func (q *queue) Mark() (driver.Mark, error) {
	var m mark
	err := q.do(func() error {
		m.at = time.Now()
		return nil
	})
	return &m, err
}

// mark implements driver.Mark: a time of the CPU's clock.
type mark struct{ at time.Time }

// Since implements driver.Mark.
func (m *mark) Since(earlier driver.Mark) (time.Duration, error) {
	return m.at.Sub(earlier.(*mark).at), nil
}

// Free implements driver.Mark.
func (m *mark) Free() error { return nil }

// Wait implements driver.Queue. A kernel that another goroutine has launched may be running.
func (q *queue) Wait(ctx context.Context) error {
	if err := q.backend.turn.TakeBefore(ctx); err != nil {
		return fmt.Errorf("ptxinterp: wait: %w", err)
	}
	defer q.backend.turn.Give()
	return q.then(func() error {
		q.backend.last = nil
		errs := []error{q.failed}
		left, damaged := q.take()
		q.mu.Lock()
		q.left.Add(left)
		q.mu.Unlock()
		for _, f := range q.found {
			errs = append(errs, fmt.Errorf("ptxinterp: %w", f))
		}
		q.failed, q.found = nil, nil
		return errors.Join(append(errs, damaged)...)
	})
}

// Take implements driver.Queue. It does not wait for a kernel.
func (q *queue) Take() driver.Outcome {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.left
	q.left = driver.Outcome{}
	return out
}

// Close implements driver.Queue. It stops a kernel that is still running, because those who close a stream have waited, and returns where the
// kernel was.
func (q *queue) Close() error {
	if q.backend.running.Load() == q {
		q.stop.Store(true)
	}
	return q.do(func() error {
		q.closed = true
		if errors.Is(q.failed, machine.ErrStopped) {
			return errors.Join(q.failed, q.free())
		}
		return q.free()
	})
}
