package nccl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gopherwarp/gopherwarp/cuda"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// watchMembers aborts the communicator when a process of the job ends.
func (c *Comm) watchMembers() {
	select {
	case <-c.member.Lost():
		c.fail(fmt.Errorf("nccl: rank %d: %w", c.rank, c.member.Err()))
	case <-c.quit:
	}
}

// watch aborts the communicator if the stream's work takes longer than the timeout. It runs while
// the stream has work.
func (c *Comm) watch() {
	for {
		at := c.calls.Load()
		timer := time.NewTimer(c.timeout)
		select {
		case <-c.stream.Done():
			timer.Stop()
			c.mu.Lock()
			if c.calls.Load() == at || c.failed != nil || c.closed {
				c.watched = false
				c.mu.Unlock()
				return
			}
			c.mu.Unlock()
		case <-timer.C:
			c.fail(c.late())
			return
		case <-c.quit:
			timer.Stop()
			return
		}
	}
}

// askTime bounds the wait for the other processes' answers in late.
const askTime = 2 * time.Second

// late returns the error of work that takes too long. It asks the other processes how many
// collectives they have enqueued. A process whose program hangs still answers; one that is stopped
// or disconnected does not.
func (c *Comm) late() error {
	e := &TimeoutError{Rank: c.rank, Call: fmt.Sprintf("collective %d", c.calls.Load()), After: c.timeout.String()}
	at := map[int]int64{}
	if c.member != nil {
		ctx, cancel := context.WithTimeout(context.Background(), askTime)
		defer cancel()
		at = c.member.Where(ctx)
	}
	for _, p := range c.peers {
		at[p.rank] = p.calls.Load()
	}
	for rank := range c.world {
		if n, answered := at[rank]; !answered || n < c.calls.Load() {
			e.Behind = append(e.Behind, rank)
		}
	}
	return e
}

// fail records err as the error of the communicator and its stream, and aborts the communicator,
// which ends work that waits for other ranks. It also aborts the other ranks of the process.
func (c *Comm) fail(err error) {
	c.mu.Lock()
	if c.failed != nil || c.closed {
		c.mu.Unlock()
		return
	}
	c.failed = err
	handle := c.handle
	c.aborting.Add(1)
	c.mu.Unlock()
	c.giveUp(handle, err)
	c.aborting.Done()
	for _, p := range c.peers {
		if p != c {
			p.fail(err)
		}
	}
}

// giveUp makes err the error of the stream, and aborts the library's communicator.
func (c *Comm) giveUp(handle uintptr, err error) {
	l := c.stream.Loans()
	_ = l.Enqueue(func() error { return err }) // all later calls of the stream return it
	if handle == 0 {
		return
	}
	if aborted := cuda.With(c.stream.Device(), func(uintptr) error { return c.abort(handle) }); aborted != nil {
		c.mu.Lock()
		c.failed = errors.Join(err, aborted)
		c.mu.Unlock()
	}
}

// abort has arguments of its own, because another call may be in progress.
func (c *Comm) abort(handle uintptr) error {
	args := make([]uintptr, 1)
	args[0] = handle
	if s := Status(c.library.Status(int(abort), toolkit.Before{}, args)); s != success && s != inProgress {
		return &Error{abort.String(), c.rank, s}
	}
	return nil
}
