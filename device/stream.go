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
)

// Stream is work for a device that runs in order: copies and kernels. Several streams of a
// device run side by side. Its methods may be called from any goroutine.
//
// A launch or copy that fails sticks to the stream: every later one returns the same error
// until Synchronize has returned it.
type Stream struct {
	device   *Device
	queue    Queue
	finished atomic.Bool  // closed, and all work done
	number   int          // among the device's streams, from 1
	recorder *recorder    // the queue, where the stream records a graph; else nil
	later    Asynchronous // the queue, where it is one; else nil

	spare atomic.Pointer[Plan] // a free one
	unfit atomic.Bool          // closed, or failed is not nil; written with the lock held

	mu       sync.Mutex
	failed   error
	closed   bool
	plans    []*Plan // more free ones
	epoch    *epoch
	sources  []source          // of the faults that the stream inherits
	calls    map[uint32]string // where launches of the epoch came from, if recorded
	left     leftover
	observed []observed // work that its watcher has not been told of

	printing sync.Mutex // held while output is written to
	output   io.Writer
}

// leftover is what was taken from the queue before its time, and belongs to the next
// Synchronize.
type leftover struct {
	out Outcome
	err error
}

// Device returns the device that the stream belongs to.
func (s *Stream) Device() *Device { return s.device }

// Queue returns what the stream is made of, for packages that know the device's kind.
func (s *Stream) Queue() Queue { return s.queue }

// Plan starts a launch of k, for a launcher: the caller adds the arguments with PutSlice and Put, in the
// order of the kernel's parameters, and calls Launch once, whatever the arguments were: until
// then the memory of slices that were put is not freed. Generated launchers do this.
func (s *Stream) Plan(k *Kernel, g Grid) *Plan {
	p := s.newPlan()
	p.reset(k, g)
	if s.recorder != nil || s.device.record.Load() {
		p.from = calledFrom(2)
	}
	return p
}

func (s *Stream) newPlan() *Plan {
	if p := s.spare.Swap(nil); p != nil {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.plans); n > 0 {
		p := s.plans[n-1]
		s.plans = s.plans[:n-1]
		return p
	}
	return &Plan{stream: s}
}

// launch enqueues p and takes it back.
func (s *Stream) launch(p *Plan) error {
	err := s.check()
	if err == nil {
		err = s.keep(s.start(p))
	}
	released := p.release()
	if err == nil {
		s.device.counters.count(WorkLaunch, 0)
		s.launched(p)
	}
	if !s.spare.CompareAndSwap(nil, p) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.plans = append(s.plans, p)
	}
	if released == nil {
		return err
	}
	return join(err, released)
}

// start hands p to the queue.
func (s *Stream) start(p *Plan) error {
	if err := p.check(&s.device.info); err != nil {
		return err
	}
	if w := s.device.watching.Load(); w != nil && s.recorder == nil {
		began := time.Now()
		if err := s.device.Preload(p.kernel); err != nil { // its time is not the kernel's
			return err
		}
		a := Activity{Work: WorkLaunch, Kernel: p.kernel, Grid: p.grid, Load: time.Since(began)}
		return w.observe(s, a, func() error { return s.queue.Launch(p) })
	}
	return s.queue.Launch(p)
}

// launched notes where p came from, if that is recorded.
func (s *Stream) launched(p *Plan) {
	if p.from[0] == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[uint32]string{}
	}
	s.calls[p.number] = p.from.site()
}

// check returns the error that stuck to the stream, or that it is closed.
func (s *Stream) check() error {
	if !s.unfit.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("device: stream %w", ErrClosed)
	}
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
func (s *Stream) enqueue(f func(Queue) error) error {
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

// Synchronize waits until the work that the stream was given before is done, or ctx is. It
// writes what kernels printed and returns what went wrong since the last call: a *Fault of a
// kernel, also one of a stream whose event this one waited for; the error that stuck to the
// stream; a failure of the device. After it the stream can be used again, unless the device
// itself was lost. Where ctx was done first, its error is returned, the work goes on, and what
// went wrong belongs to the next call.
//
// Several goroutines may wait for one stream, each as long as its own ctx allows. What went
// wrong is returned to all that were waiting then.
func (s *Stream) Synchronize(ctx context.Context) error {
	if s.closing() {
		return fmt.Errorf("device: stream %w", ErrClosed)
	}
	if s.recorder != nil {
		return s.keep(s.queue.Wait(ctx))
	}
	return s.wait(ctx)
}

// Done returns a channel that is closed when the work that the stream was given before is done
// or has failed. Synchronize then returns without waiting, and only what it returns says
// whether the results count.
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
	took, told := time.Since(start), tell(done)
	inherited := inherit(sources)
	s.mu.Lock() // of several that have waited, the first takes what was left and ends the epoch
	out := s.queue.Take()
	s.device.counters.waited(took, out.Fault)
	s.left.out.Add(out)
	out, s.left.out = s.left.out, Outcome{}
	err, s.left.err = join(s.left.err, s.suspects(err)), nil
	s.settle(e, out)
	failed := e.failed
	s.mu.Unlock()
	return join(e.fault(inherited), failed, err, told, s.print(out))
}

// suspects adds to a failure of the device the lines of the launches that it may come from, where
// these are recorded. The lock is held.
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
func (s *Stream) print(out Outcome) error {
	s.printing.Lock()
	defer s.printing.Unlock()
	slices.SortStableFunc(out.Prints, func(a, b Print) int {
		return cmp.Or(cmp.Compare(a.Launch, b.Launch), compareIndex(a.Block, b.Block), compareIndex(a.Thread, b.Thread))
	})
	for _, p := range out.Prints {
		if _, err := io.WriteString(s.output, p.Text); err != nil {
			return fmt.Errorf("device: output of a kernel's Printf: %w", err)
		}
	}
	if out.Lost > 0 {
		if _, err := fmt.Fprintf(s.output, "(%d more prints found no room)\n", out.Lost); err != nil {
			return fmt.Errorf("device: output of a kernel's Printf: %w", err)
		}
	}
	return nil
}

// compareIndex orders indices with x counting fastest.
func compareIndex(a, b [3]int) int {
	return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
}

// Close waits for the stream's work and frees the stream. It writes what kernels printed
// and returns what went wrong since the last Synchronize.
func (s *Stream) Close() error {
	if s.recorder != nil {
		return s.closeRecorder()
	}
	err := s.close()
	s.device.forget(s)
	return err
}

func (s *Stream) close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return fmt.Errorf("device: stream %w", ErrClosed)
	}
	s.closed = true
	s.unfit.Store(true)
	s.mu.Unlock()
	err := join(s.wait(context.Background()), s.queue.Close())
	s.finished.Store(true)
	return err
}

// closeRecorder ends what a stream records.
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
