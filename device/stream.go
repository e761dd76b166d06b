package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Stream is work for a device that runs in order: copies and kernels. Several streams of a
// device run side by side. Its methods may be called from any goroutine.
//
// A launch or copy that fails sticks to the stream: every later one returns the same error
// until Synchronize has returned it.
type Stream struct {
	device *Device

	mu     sync.Mutex
	queue  Queue
	output io.Writer
	failed error
	closed bool
	plans  []*Plan // free ones
}

// Device returns the device that the stream belongs to.
func (s *Stream) Device() *Device { return s.device }

// Plan starts a launch of k: the caller adds the arguments with PutSlice and Put, in the
// order of the kernel's parameters, and calls Launch once, whatever the arguments were: until
// then the memory of slices that were put is not freed. Generated launchers do this.
func (s *Stream) Plan(k *Kernel, g Grid) *Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p *Plan
	if n := len(s.plans); n > 0 {
		p, s.plans = s.plans[n-1], s.plans[:n-1]
	} else {
		p = &Plan{stream: s}
	}
	p.reset(k, g)
	return p
}

// launch enqueues p and takes it back.
func (s *Stream) launch(p *Plan) error {
	err := s.enqueue(func(q Queue) error {
		if err := p.check(s.device.info.Limits); err != nil {
			return err
		}
		return q.Launch(p)
	})
	released := p.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = append(s.plans, p)
	return join(err, released)
}

// enqueue calls f with the queue unless the stream is closed or has failed, and keeps its
// error.
func (s *Stream) enqueue(f func(Queue) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("device: stream %w", ErrClosed)
	}
	if s.failed != nil {
		return s.failed
	}
	s.failed = f(s.queue)
	return s.failed
}

// Synchronize waits until all work of the stream is done or ctx is. It writes what kernels
// printed and returns what went wrong since the last call: a *Fault of a kernel, the error
// that stuck to the stream, a failure of the device. After it the stream can be used again,
// unless the device itself was lost. Where ctx was done first, its error is returned, the
// work goes on, and what went wrong belongs to the next call.
func (s *Stream) Synchronize(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("device: stream %w", ErrClosed)
	}
	return s.wait(ctx)
}

// wait is Synchronize of a stream that is locked and open.
func (s *Stream) wait(ctx context.Context) error {
	out, err := s.queue.Wait(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	failed := s.failed
	s.failed = nil
	var fault error
	if out.Fault != nil {
		fault = out.Fault
	}
	return join(fault, failed, err, s.print(out))
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
	err := s.close()
	s.device.forget(s)
	return err
}

func (s *Stream) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("device: stream %w", ErrClosed)
	}
	s.closed = true
	return join(s.wait(context.Background()), s.queue.Close())
}
