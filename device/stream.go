package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Stream is a queue of copies and kernels, which run in order. The streams of a device run
// concurrently. The methods of a Stream may be called from any goroutine.
//
// If a launch or copy fails, its error sticks to the stream: until Synchronize has returned that
// error, every later launch or copy does nothing and returns an error that wraps that error.
type Stream struct {
	device   *Device
	queue    driver.Queue
	finished atomic.Bool         // closed, and all work done
	number   int                 // among the device's streams, from 1
	recorder *recorder           // the queue, if the stream records a graph; otherwise nil
	later    driver.Asynchronous // the queue, if it is asynchronous; otherwise nil
	shelf    *shelf              // in the device's arena, or nil

	spare atomic.Pointer[launch] // a free one
	unfit atomic.Bool            // closed, or failed is not nil; written with the lock held

	mu       sync.Mutex
	failed   error
	closed   bool
	launches []*launch // more free ones
	epoch    *epoch
	sources  []source          // of the faults that the stream inherits
	calls    map[uint32]string // where launches of the epoch came from, if recorded
	left     leftover
	observed []observed // work not yet reported to its watcher

	printing sync.Mutex // held while output is written to
	output   io.Writer
}

// leftover is an outcome that was taken from the queue early and belongs to the next Synchronize.
type leftover struct {
	out driver.Outcome
	err error
}

// Device returns the device that the stream belongs to.
func (s *Stream) Device() *Device { return s.device }

// Queue returns the back end's queue, for packages that depend on the device's kind.
func (s *Stream) Queue() driver.Queue { return s.queue }

// Plan starts a launch of k. The caller passes the arguments in the order of the kernel's parameters
// (Slice.Pass, TensorMap.Pass, driver.Pass) and calls Plan.Launch once, even if an argument is invalid,
// because Launch releases the arguments. Generated launchers do this.
func (s *Stream) Plan(k *driver.Kernel, g Grid) *driver.Plan {
	l := s.newLaunch()
	l.plan.Reset(k, g)
	switch {
	case s.recorder != nil || s.device.record.Load():
		l.from = calledFrom(2)
	case l.from[0] != 0:
		l.from = callers{}
	}
	return l.plan
}

func (s *Stream) newLaunch() *launch {
	if l := s.spare.Swap(nil); l != nil {
		return l
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.launches); n > 0 {
		l := s.launches[n-1]
		s.launches = s.launches[:n-1]
		return l
	}
	return newLaunch(s)
}

// launch enqueues l and makes it available for reuse.
func (s *Stream) launch(l *launch) error {
	err := s.check()
	if err == nil {
		err = s.keep(s.start(l))
	}
	released := l.release()
	if err == nil && !l.plan.Empty() {
		s.device.counters.count(WorkLaunch, 0)
		s.launched(l)
	}
	if !s.spare.CompareAndSwap(nil, l) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.launches = append(s.launches, l)
	}
	if released == nil {
		return err
	}
	return join(err, released)
}

// start checks l and, unless it is empty, hands it to the queue.
func (s *Stream) start(l *launch) error {
	p := l.plan
	if s.device.serial.Load() {
		p.Serialize()
	}
	if err := p.Check(&s.device.info, s.device.coarsen.Load()); err != nil || p.Empty() {
		return err
	}
	if w := s.device.watching.Load(); w != nil && s.recorder == nil {
		began := time.Now()
		if err := s.device.Preload(p.Kernel()); err != nil { // so that the time of loading is not counted as the kernel's
			return err
		}
		a := Activity{Work: WorkLaunch, Kernel: p.Kernel(), Grid: p.Options(), Load: time.Since(began)}
		return w.observe(s, a, func() error { return s.queue.Launch(p) })
	}
	return s.queue.Launch(p)
}

// launched records where l came from, if the device records callers.
func (s *Stream) launched(l *launch) {
	if l.from[0] == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[uint32]string{}
	}
	s.calls[l.plan.Number()] = l.from.site()
}

// check returns an error if the stream is closed or an earlier call has failed.
func (s *Stream) check() error {
	if !s.unfit.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return fmt.Errorf("device: stream %w", ErrClosed)
	case s.failed != nil:
		return fmt.Errorf("device: an earlier call on this stream failed, and Synchronize has not returned its error: %w", s.failed)
	}
	return nil
}

// stuck returns the error that stuck to the stream.
func (s *Stream) stuck() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// keep makes err stick to the stream, and returns it.
func (s *Stream) keep(err error) error {
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
		s.unfit.Store(true)
	}
	return err
}

// enqueue calls f with the queue unless the stream is closed or has failed, and keeps its
// error.
func (s *Stream) enqueue(f func(driver.Queue) error) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.keep(f(s.queue))
}

// closing reports whether Close was called.
func (s *Stream) closing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// idle reports whether the stream is closed and all its work done.
func (s *Stream) idle() bool { return s.finished.Load() }

// Synchronize waits until all work enqueued before the call is done, or until ctx is done. It writes the
// output of gpu.Printf and returns the errors since the previous Synchronize: the *Fault of a kernel of
// s, or of a kernel of another stream for which s waited; the error that stuck to s; a failure of the device.
// Afterwards s can be used again, unless the device itself was lost. If ctx is done first, Synchronize
// returns the error of ctx; the work continues, and the next call returns its errors.
//
// Several goroutines may wait for one stream, each with its own ctx. When the work ends, every goroutine that is still
// waiting receives the errors.
func (s *Stream) Synchronize(ctx context.Context) error {
	if s.closing() {
		return fmt.Errorf("device: stream %w", ErrClosed)
	}
	if s.recorder != nil {
		return s.keep(s.queue.Wait(ctx))
	}
	return s.wait(ctx)
}

// Done returns a channel that is closed when all work enqueued before the call is done or has failed.
// Synchronize then returns without waiting, and reports whether the work succeeded.
func (s *Stream) Done() <-chan struct{} {
	if s.later != nil {
		if done, err := s.later.Done(); err == nil {
			return done
		}
	}
	done := make(chan struct{})
	close(done)
	return done
}

// wait is Synchronize of a stream that may be closed.
func (s *Stream) wait(ctx context.Context) error {
	s.mu.Lock()
	e, sources, done := s.epoch, s.sources, s.observed
	s.observed = nil
	s.mu.Unlock()
	start := time.Now()
	err := s.queue.Wait(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		s.mu.Lock()
		s.observed = append(done, s.observed...)
		s.mu.Unlock()
		return err
	}
	took, watched := time.Since(start), report(done)
	inherited := inherit(sources)
	s.mu.Lock() // of several goroutines, the first takes the outcome and ends the epoch
	out := s.queue.Take()
	s.device.counters.waited(took, out.Fault)
	s.left.out.Add(out)
	out, s.left.out = s.left.out, driver.Outcome{}
	err, s.left.err = join(s.left.err, s.suspects(err)), nil
	s.settle(e, out)
	failed := e.failed
	s.mu.Unlock()
	return join(e.result(inherited), failed, err, watched, s.print(out))
}

// suspects adds to a failure of the device the recorded lines of the launches that may have caused
// it. The lock is held.
func (s *Stream) suspects(err error) error {
	if err == nil || len(s.calls) == 0 {
		return err
	}
	lines := slices.Compact(slices.Sorted(maps.Values(s.calls)))
	return fmt.Errorf("%w (launched since the last wait: %s)", err, strings.Join(lines, ", "))
}

// join returns the only error among errs as it is, or several as one.
func join(errs ...error) error {
	var first error
	for _, err := range errs {
		switch {
		case err == nil:
		case first == nil:
			first = err
		default:
			return errors.Join(errs...)
		}
	}
	return first
}

// print writes the kernels' lines in an order that does not depend on the schedule.
func (s *Stream) print(out driver.Outcome) error {
	s.printing.Lock()
	defer s.printing.Unlock()
	slices.SortStableFunc(out.Prints, func(a, b driver.Print) int {
		return cmp.Or(cmp.Compare(a.Launch, b.Launch), compareIndex(a.Block, b.Block), compareIndex(a.Thread, b.Thread))
	})
	for _, p := range out.Prints {
		if _, err := io.WriteString(s.output, p.Text); err != nil {
			return fmt.Errorf("device: output of a kernel's Printf: %w", err)
		}
	}
	if out.Lost > 0 {
		if _, err := fmt.Fprintf(s.output, "(%d more prints did not fit in the buffer)\n", out.Lost); err != nil {
			return fmt.Errorf("device: output of a kernel's Printf: %w", err)
		}
	}
	return nil
}

// compareIndex orders indices with x counting fastest.
func compareIndex(a, b [3]int) int {
	return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
}

// Close waits for the stream's work and frees the stream. It writes the output of gpu.Printf and returns
// the errors since the last Synchronize. On the CPU, Close returns ErrRunning if a kernel that
// another goroutine launched does not end within seconds.
func (s *Stream) Close() error {
	if s.recorder != nil {
		return s.closeRecorder()
	}
	ctx, cancel := s.device.patience()
	defer cancel()
	return s.closeBefore(ctx)
}

// closeBefore is Close that waits for work until ctx is done.
func (s *Stream) closeBefore(ctx context.Context) error {
	err := s.close(ctx)
	s.device.forget(s)
	return err
}

func (s *Stream) close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return fmt.Errorf("device: stream %w", ErrClosed)
	}
	s.closed = true
	s.unfit.Store(true)
	s.mu.Unlock()
	err := s.wait(ctx)
	if err != nil && errors.Is(err, ctx.Err()) {
		err = nil // closing the queue returns the error of work that is still running
	}
	closed := s.queue.Close()
	if !errors.Is(closed, ErrRunning) {
		s.finished.Store(true)
		s.device.memory.retire(s)
	}
	return join(err, closed)
}

// closeRecorder ends the recording of a stream.
func (s *Stream) closeRecorder() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("device: stream %w", ErrClosed)
	}
	s.closed = true
	s.unfit.Store(true)
	return s.failed
}
