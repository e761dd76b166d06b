package cufft

import (
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
)

// Complex transforms complex signals. Multiple goroutines may invoke its methods simultaneously.
type Complex[C complex64 | complex128] struct {
	on    on
	shape Shape
}

// NewComplex plans transforms on a stream. The plan owns the workspace that the transforms need.
func NewComplex[C complex64 | complex128](s *device.Stream, shape Shape) (*Complex[C], error) {
	f := execC2C
	if isDouble[C]() {
		f = execZ2Z
	}
	p, err := newPlan(s, f, shape)
	if err != nil {
		return nil, err
	}
	return &Complex[C]{p.on(s), shape}, nil
}

func isDouble[T any]() bool {
	var zero T
	switch any(zero).(type) {
	case float64, complex128:
		return true
	}
	return false
}

// Forward transforms the signals in src and stores the results in dst, which may be the same slice as src.
func (c *Complex[C]) Forward(src, dst device.Slice[C]) error { return c.transform(src, dst, forward) }

// Inverse computes the inverse transform. It does not scale: Forward followed by Inverse gives the
// signal times the number of its elements.
func (c *Complex[C]) Inverse(src, dst device.Slice[C]) error { return c.transform(src, dst, inverse) }

func (c *Complex[C]) transform(in, out device.Slice[C], d direction) error {
	n := c.shape.elements(c.shape.last())
	if err := errors.Join(fits("the input", in, n), fits("the output", out, n)); err != nil {
		return err
	}
	return transform(c.on, in, out, d)
}

// On returns the plan for another stream of the same device, such as a stream that records a graph.
// Work of the two plans must not run at the same time. Closing either plan closes both.
func (c *Complex[C]) On(s *device.Stream) *Complex[C] { return &Complex[C]{c.on.plan.on(s), c.shape} }

// Close closes the plan. The workspace is freed when the enqueued work is done.
func (c *Complex[C]) Close() error { return c.on.plan.close() }
