package vulkan

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// environment is where the kernels of one stream leave faults and prints. Its parts lie one after another in one buffer.
type environment struct {
	driver.Environment
	memory *buffer
}

const (
	printBytes = 1 << 20
	recordAt   = (driver.EnvBytes + 63) &^ 63
	printsAt   = (recordAt + driver.RecordMax + 63) &^ 63
)

// environment makes the queue's environment unless there is one.
func (q *queue) environment() error {
	if q.env != nil {
		return nil
	}
	p, err := q.backend.allocate(printsAt+printBytes, hostMemory)
	if err != nil {
		return err
	}
	clear(p.host)
	q.env = &environment{driver.Environment{Head: p.host[:driver.EnvBytes], Record: p.host[recordAt:][:driver.RecordMax], Prints: p.host[printsAt:]}, p}
	q.env.Init(p.address+recordAt, p.address+printsAt)
	return nil
}

// take returns what kernels left, and makes room for more. No command runs.
func (q *queue) take() (driver.Outcome, error) {
	if q.env == nil {
		return driver.Outcome{}, nil
	}
	out, err := q.env.Take(q.backend.numbered)
	if err != nil {
		err = fmt.Errorf("vulkan: %w", err)
	}
	return out, err
}
