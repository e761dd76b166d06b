package ptxinterp

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// environment is where the kernels of one stream leave faults and prints. Its parts are three allocations, so that a kernel that
// writes past one of them is caught.
type environment struct {
	driver.Environment
	addresses [3]uint64 // of Head, Record and Prints
}

const printBytes = 1 << 20

// environment makes the queue's environment unless there is one. The device's lock is held.
func (q *queue) environment() error {
	if q.env != nil {
		return nil
	}
	e := &environment{}
	m := q.backend.memory
	for i, p := range []struct {
		bytes *[]byte
		size  int
	}{{&e.Head, driver.EnvBytes}, {&e.Record, driver.RecordMax}, {&e.Prints, printBytes}} {
		at, err := m.AllocateClear(p.size)
		if err != nil {
			return fmt.Errorf("ptxinterp: environment of a stream: %w", err)
		}
		e.addresses[i] = at
		if *p.bytes, err = m.Bytes(at, p.size); err != nil {
			return fmt.Errorf("ptxinterp: environment of a stream: %w", err)
		}
		m.Trust(at)
	}
	e.Init(e.addresses[1], e.addresses[2])
	q.env = e
	return nil
}

// take returns what kernels left, and makes room for more. The device's lock is held.
func (q *queue) take() (driver.Outcome, error) {
	if q.env == nil {
		return driver.Outcome{}, nil
	}
	out, err := q.env.Take(q.backend.numbered)
	if err != nil {
		err = fmt.Errorf("ptxinterp: %w", err)
	}
	return out, err
}

// free frees the environment.
func (q *queue) free() error {
	if q.env == nil {
		return nil
	}
	var errs []error
	for _, at := range q.env.addresses {
		errs = append(errs, q.backend.memory.Free(at))
	}
	q.env = nil
	return errors.Join(errs...)
}
