package cufft

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/internal/library"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// Shape is the size of the signals, and the number of signals that a plan transforms in one call.
type Shape struct {
	Dims  []int // 1 to 3 dimensions; neighbors in the last dimension are adjacent in memory
	Batch int   // number of signals, stored one after the other; 0 means 1
}

// elements returns the number of elements of all signals, if the last dimension has the given size.
func (s Shape) elements(last int) int {
	n := max(1, s.Batch) * last
	for _, d := range s.Dims[:len(s.Dims)-1] {
		n *= d
	}
	return n
}

func (s Shape) last() int { return s.Dims[len(s.Dims)-1] }

func (s Shape) check() error {
	if len(s.Dims) < 1 || len(s.Dims) > 3 || slices.Min(s.Dims) < 1 || s.Batch < 0 {
		return fmt.Errorf("cufft: dimensions %v, batch %d: %w", s.Dims, s.Batch, ErrShape)
	}
	return nil
}

// plan is a transform of the library, for one stream at a time.
type plan struct {
	object    library.Object
	function  function
	workspace *device.Buffer[byte]
	lent      *device.Stream // the stream that the workspace was lent to last; later work on that stream need not lend it again
	loans     device.Loans

	// C code reads and writes the fields below, so the plan is on the heap.
	handle int32
	dims   [3]int64
	work   uintptr    // bytes
	next   [4]uintptr // arguments of the transform that is being enqueued
	n      int        // number of arguments
	space  uintptr
	run    func(cuda.Handle) error // made once, so that calls allocate nothing
}

// newPlan returns a plan with a workspace of its own.
func newPlan(s *device.Stream, f function, shape Shape) (*plan, error) {
	if err := shape.check(); err != nil {
		return nil, err
	}
	l, err := load()
	if err != nil {
		return nil, err
	}
	return newPlanOf(l, s, request{f, shape})
}

// request is the function and the shape of a new plan.
type request struct {
	function function
	shape    Shape
}

func newPlanOf(l toolkit.Loaded, s *device.Stream, r request) (*plan, error) {
	p := &plan{object: library.Object{Library: l, Device: s.Device()}, function: r.function}
	p.run = p.runOn
	err := p.object.Within(func() error {
		if err := p.invoke(create, uintptr(unsafe.Pointer(&p.handle))); err != nil {
			return err
		}
		if err := p.make(r); err != nil {
			return errors.Join(err, p.invoke(destroy, uintptr(p.handle)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if p.workspace, err = device.MakeDirty[byte](s, int(p.work)); err != nil {
		return nil, errors.Join(err, p.destroy())
	}
	return p, nil
}

// make lets the library prepare the transform, without allocating a workspace.
func (p *plan) make(r request) error {
	for i, d := range r.shape.Dims {
		p.dims[i] = int64(d)
	}
	if err := p.invoke(setAutoAllocation, uintptr(p.handle), 0); err != nil {
		return err
	}
	return p.invoke(makePlanMany, uintptr(p.handle), uintptr(len(r.shape.Dims)), uintptr(unsafe.Pointer(&p.dims)),
		0, 1, 0, 0, 1, 0, uintptr(transforms[r.function]), uintptr(max(1, r.shape.Batch)), uintptr(unsafe.Pointer(&p.work)))
}

// invoke calls the library.
func (p *plan) invoke(f function, args ...uintptr) error { return p.object.Invoke(int(f), args...) }

func (p *plan) close() error {
	p.object.Lock()
	defer p.object.Unlock()
	if p.object.Closed {
		return ErrClosed
	}
	p.object.Closed = true
	return errors.Join(p.destroy(), p.workspace.Close())
}

func (p *plan) destroy() error {
	return p.object.Within(func() error { return p.invoke(destroy, uintptr(p.handle)) })
}

// on is a plan on a stream. Its function is made once, so that calls allocate nothing.
type on struct {
	plan    *plan
	stream  *device.Stream
	enqueue func() error
}

func (p *plan) on(s *device.Stream) on {
	return on{p, s, func() error { return cuda.Each(s, p.run) }}
}

// direction is the library's constant, for functions that take one.
type direction int

const (
	none    direction = 0
	forward direction = -1
	inverse direction = 1
)

// transform enqueues the plan's transform.
func transform[In, Out any](o on, in device.Slice[In], out device.Slice[Out], d direction) error {
	p := o.plan
	p.object.Lock()
	defer p.object.Unlock()
	l := &p.loans
	*l = o.stream.LoansChecked()
	p.next = [4]uintptr{uintptr(p.handle), in.Lend(l), out.Lend(l), uintptr(d)}
	if p.lent != o.stream || o.stream.Recording() {
		p.space, p.lent = p.workspace.All().Lend(l), o.stream
	}
	p.n = 3
	if d != none {
		p.n = 4
	}
	err := l.Enqueue(o.enqueue)
	if err != nil {
		p.lent = nil
	}
	return err
}

// fits checks that x has n elements.
func fits[T any](what string, x device.Slice[T], n int) error {
	if x.Len() != n {
		return fmt.Errorf("cufft: %s has %d elements, the transform needs %d: %w", what, x.Len(), n, ErrShape)
	}
	return nil
}

// runOn calls the library for a stream. The lock is held.
func (p *plan) runOn(on cuda.Handle) error {
	if p.object.Closed {
		return ErrClosed
	}
	if err := p.loans.Closed(); err != nil {
		return err
	}
	if err := p.object.Bind(on, p.use); err != nil {
		return err
	}
	return p.object.Run(int(p.function), p.next[:p.n])
}

// use makes the library work on a stream, with the plan's workspace.
func (p *plan) use(stream uintptr) error {
	if err := p.invoke(setStream, uintptr(p.handle), stream); err != nil {
		return err
	}
	return p.invoke(setWorkArea, uintptr(p.handle), p.space)
}
