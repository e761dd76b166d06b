package ptxinterp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// environment is where the kernels of one stream leave faults and prints; package driver defines
// its layout (abi.go). Three allocations, so that a kernel that writes past one of them is caught.
type environment struct {
	address             uint64
	env, record, prints []byte
	addresses           [3]uint64
}

const printBytes = 1 << 20

// errRecord is what a kernel leaves that stops between claiming a fault and recording it.
var errRecord = errors.New("ptxinterp: a kernel claimed a fault and left no record of it")

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
	}{{&e.env, driver.EnvBytes}, {&e.record, driver.RecordMax}, {&e.prints, printBytes}} {
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
	e.address = e.addresses[0]
	binary.LittleEndian.PutUint64(e.env[driver.EnvRecord:], e.addresses[1])
	binary.LittleEndian.PutUint64(e.env[driver.EnvPrints:], e.addresses[2])
	binary.LittleEndian.PutUint32(e.env[driver.EnvPrintSize:], printBytes)
	q.env = e
	return nil
}

// take returns what kernels left, and makes room for more. The device's lock is held.
func (q *queue) take() (out driver.Outcome, err error) {
	e := q.env
	if e == nil {
		return out, nil
	}
	if binary.LittleEndian.Uint32(e.env[driver.EnvClaim:]) != 0 {
		if out.Fault = driver.DecodeFault(e.record, q.backend.numbered); out.Fault == nil {
			err = errRecord
		}
	}
	head := binary.LittleEndian.Uint32(e.env[driver.EnvPrintHead:])
	out.Prints = driver.DecodePrints(e.prints, head, q.backend.numbered)
	out.Lost = int(binary.LittleEndian.Uint32(e.env[driver.EnvPrintLost:]))
	clear(e.record)
	clear(e.prints[:min(int(head), printBytes)])
	clear(e.env[driver.EnvClaim:][:8])
	clear(e.env[driver.EnvPrintHead : driver.EnvPrintLost+4])
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
