package cufft

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/toolkit"
)

// Shape is the size of signals, and how many are transformed at once.
type Shape struct {
	Dims  []int // 1 to 3, the last one is that of neighbours in memory
	Batch int   // signals, one behind the other; 0 is 1
}

// elements is the number of elements of all signals, the last dimension having so many.
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
		return fmt.Errorf("cufft: dimensions %v, %d at once: %w", s.Dims, s.Batch, ErrShape)
	}
	return nil
}

// plan is one transform of the library, for one stream at a time.
type plan struct {
	library   library
	device    *device.Device
	function  function
	workspace *device.Buffer[byte]

	mu     sync.Mutex
	closed bool
	bound  uintptr        // the stream that the library was told last
	lent   *device.Stream // to which the workspace was lent last: for its later work the lock keeps it
	before toolkit.Before
	loans  device.Loans

	// What C sees is below, and on the heap.
	handle int32
	dims   [3]int64
	work   uintptr // bytes
	args   [12]uintptr
	next   [4]uintptr // arguments of the transform that is being enqueued
	n      int        // how many they are
	space  uintptr
	run    func(cuda.Handle) error // made once, so that calls allocate nothing
}

// newPlan returns a plan whose memory to work in is its own.
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

// request is what a plan is for.
type request struct {
	function function
	shape    Shape
}

func newPlanOf(l library, s *device.Stream, r request) (*plan, error) {
	p := &plan{library: l, device: s.Device(), function: r.function}
	p.run = p.runOn
	err := cuda.With(p.device, func(uintptr) error {
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

// make has the library prepare the transform, without memory of its own.
func (p *plan) make(r request) error {
	for i, d := range r.shape.Dims {
		p.dims[i] = int64(d)
	}
	if err := p.invoke(setAutoAllocation, uintptr(p.handle), 0); err != nil {
		return err
	}
	return p.invoke(makePlanMany, uintptr(p.handle), uintptr(len(r.shape.Dims)), uintptr(unsafe.Pointer(&p.dims)),
		0, 1, 0, 0, 1, 0, uintptr(kinds[r.function]), uintptr(max(1, r.shape.Batch)), uintptr(unsafe.Pointer(&p.work)))
}

// invoke calls the library.
func (p *plan) invoke(f function, args ...uintptr) error {
	s := Status(p.library.call(int(f), p.before, p.args[:copy(p.args[:], args)]))
	runtime.KeepAlive(p)
	if s != success {
		return &Error{f.String(), s}
	}
	return nil
}

func (p *plan) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.closed = true
	return errors.Join(p.destroy(), p.workspace.Close())
}

func (p *plan) destroy() error {
	return cuda.With(p.device, func(uintptr) error { return p.invoke(destroy, uintptr(p.handle)) })
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

// direction is the library's word, where a function needs one.
type direction int

const (
	none    direction = 0
	forward direction = -1
	inverse direction = 1
)

// transform enqueues the plan's transform.
func transform[In, Out any](o on, in device.Slice[In], out device.Slice[Out], d direction) error {
	p := o.plan
	p.mu.Lock()
	defer p.mu.Unlock()
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

// fits demands that memory has n elements.
func fits[T any](what string, x device.Slice[T], n int) error {
	if x.Len() != n {
		return fmt.Errorf("cufft: %s has %d elements, the transform %d: %w", what, x.Len(), n, ErrShape)
	}
	return nil
}

// runOn calls the library for a stream. It is called with the lock held.
func (p *plan) runOn(on cuda.Handle) error {
	if p.closed {
		return ErrClosed
	}
	if err := p.loans.Closed(); err != nil {
		return err
	}
	p.before = on.Before
	if on.Stream != p.bound {
		p.bound = 0
		if err := p.invoke(setStream, uintptr(p.handle), on.Stream); err != nil {
			return err
		}
		if err := p.invoke(setWorkArea, uintptr(p.handle), p.space); err != nil {
			return err
		}
		p.bound = on.Stream
	}
	s := Status(p.library.call(int(p.function), p.before, p.next[:p.n]))
	if s != success {
		return &Error{p.function.String(), s}
	}
	return nil
}
