package main

import (
	"sync"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// replacing is an interpreter that runs other code for the kernels that it knows.
type replacing struct {
	driver.Backend
	kernels map[string]*driver.Kernel // by package and name
	done    sync.Map
}

// NewQueue implements driver.Backend.
func (b *replacing) NewQueue() (driver.Queue, error) {
	q, err := b.Backend.NewQueue()
	return &queue{q, b}, err
}

// queue is one of a replacing backend.
type queue struct {
	driver.Queue
	backend *replacing
}

// Launch implements driver.Queue. A kernel that a launcher has is changed where it stands when it is launched first:
// nothing else in the process has seen its code.
func (q *queue) Launch(p *driver.Plan) error {
	k := p.Kernel()
	if _, done := q.backend.done.LoadOrStore(k, true); !done {
		if n := q.backend.kernels[k.Package+"."+k.Name]; n != nil {
			native := k.Native
			*k = *n
			k.Native = native
		}
	}
	return q.Queue.Launch(p)
}
