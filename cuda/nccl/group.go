package nccl

import (
	"context"
	"errors"
	"runtime"

	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// group calls f between the start and the end of a library group, which must be on the same thread.
func (c *Comm) group(f func() error, comms []*Comm) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.plain(groupStart); err != nil {
		return err
	}
	for _, m := range comms {
		m.gather(true)
	}
	err := f()
	ended := c.plain(groupEnd)
	for _, m := range comms {
		m.gather(false)
	}
	if err = errors.Join(err, ended); err != nil {
		return err
	}
	for _, m := range comms {
		if err := m.begun(); err != nil {
			for _, m := range comms {
				m.fail(err)
			}
			return err
		}
	}
	return nil
}

// gather sets whether the rank's calls belong to a group, which then waits for them.
func (c *Comm) gather(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grouped = on
}

// begun waits until the library has enqueued the work of the group.
func (c *Comm) begun() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	if err := c.settled(context.Background()); err != nil {
		return err
	}
	c.beWatched()
	return nil
}

// plain calls a function without arguments.
func (c *Comm) plain(f function) error {
	if s := Status(c.library.Status(int(f), toolkit.Before{}, nil)); s != success && s != inProgress {
		return &Error{f.String(), c.rank, s}
	}
	return nil
}
