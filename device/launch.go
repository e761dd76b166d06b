package device

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// launch is the owner of a driver.Plan: what the stream that launches it knows in addition.
type launch struct {
	plan   *driver.Plan
	stream *Stream
	held   []lease // memory of the arguments
	from   callers // where the launch came from, if that is recorded
}

func newLaunch(s *Stream) *launch {
	l := &launch{stream: s}
	l.plan = driver.NewPlan(l)
	return l
}

// recorded returns a copy of the launch for a graph, which keeps the memory itself.
func (l *launch) recorded() *launch {
	r := &launch{stream: l.stream, from: l.from}
	r.plan = l.plan.Clone(r)
	return r
}

// Launch implements driver.PlanOwner.
func (l *launch) Launch() error { return l.stream.launch(l) }

// Launched implements driver.PlanOwner.
func (l *launch) Launched() string { return l.from.site() }

// Closed implements driver.PlanOwner.
func (l *launch) Closed() error {
	for _, a := range l.held {
		if a.closed() {
			return fmt.Errorf("device: %s: a buffer among the arguments %w", l.plan.Kernel().Name, ErrClosed)
		}
	}
	return nil
}

// release unpins the memory that the launch held, which may then be freed.
func (l *launch) release() error {
	var err error
	if l.stream.later == nil {
		for _, a := range l.held {
			err = join(err, a.unpin())
		}
	}
	clear(l.held)
	l.held = l.held[:0]
	return err
}

// lend returns the address of a slice for the launch, and holds its memory.
func (l *launch) lend(s span) (address uintptr, err error) {
	if err := s.unfit(); err != nil {
		return 0, err
	}
	switch {
	case l.stream.later != nil:
		address, err = s.from.lend(l.stream)
	case l.stream.recorder != nil && s.from.device == l.stream.device:
		address, err = s.from.pinArgument(l.stream.recorder)
	default:
		address, err = s.from.pin(l.stream)
	}
	if err == nil {
		l.held = append(l.held, s.from)
	}
	return address + uintptr(s.offset), err
}

// Pass passes the slice as the next argument of a launch. Generated launchers call it.
func (s Slice[T]) Pass(p *driver.Plan) { passSpan(p, span(s), sizeOf[T]()) }

// passSpan passes a span with elements of elem bytes. The common case comes first, in one piece:
// the arguments are most of the time that a launch takes in Go.
func passSpan(p *driver.Plan, s span, elem int) {
	w := p.NextSlice(elem)
	if w == nil {
		p.Mismatch()
		return
	}
	l := p.Owner().(*launch)
	if !s.from.none() && l.stream.later != nil && s.from.lentTo(l.stream) {
		l.held = append(l.held, s.from)
		w[0], w[1], w[2] = uint64(s.from.address+uintptr(s.offset)), uint64(s.len), uint64(s.len)
		return
	}
	if s.from.allocation == absent {
		return // a nil slice is zeros
	}
	address, err := l.lend(s)
	if err != nil {
		p.Fail(err)
		return
	}
	w[0], w[1], w[2] = uint64(address), uint64(s.len), uint64(s.len)
}

// Pass passes the tensor map as the next argument of a launch. Generated launchers call it.
func (m TensorMap[Part]) Pass(p *driver.Plan) {
	dst := p.NextTensorMap()
	if dst == nil {
		return
	}
	l := p.Owner().(*launch)
	address, err := l.lend(span(m.in))
	if err == nil {
		err = m.err
	}
	if err != nil {
		p.Fail(err)
		return
	}
	m.plan.Address = address
	if b, ok := l.stream.device.backend.(driver.TensorMapper); ok {
		if err := b.EncodeTensorMap(dst, m.plan); err != nil {
			p.Fail(err)
		}
		return
	}
	m.plan.Put(dst)
}
