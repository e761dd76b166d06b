package cufft

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
)

// Real transforms real signals to their spectra and back: float32 to complex64, or float64 to
// complex128. If the last dimension of a signal is n, the last dimension of its spectrum is n/2+1.
// The other elements of the full spectrum are the complex conjugates of these elements. Multiple
// goroutines may invoke the methods of a Real simultaneously.
type Real[R float32 | float64, C complex64 | complex128] struct {
	to, back on
	shape    Shape
}

// NewReal plans transforms on a stream. The plan owns the workspace that the transforms need.
func NewReal[R float32 | float64, C complex64 | complex128](s *device.Stream, shape Shape) (*Real[R, C], error) {
	if isDouble[R]() != isDouble[C]() {
		return nil, fmt.Errorf("cufft: a spectrum of %T for a signal of %T: %w", *new(C), *new(R), ErrShape)
	}
	f, g := execR2C, execC2R
	if isDouble[R]() {
		f, g = execD2Z, execZ2D
	}
	to, err := newPlan(s, f, shape)
	if err != nil {
		return nil, err
	}
	back, err := newPlan(s, g, shape)
	if err != nil {
		return nil, errors.Join(err, to.close())
	}
	return &Real[R, C]{to.on(s), back.on(s), shape}, nil
}

// Spectrum returns the total number of elements of all spectra of one call.
func (r *Real[R, C]) Spectrum() int { return r.shape.elements(r.shape.last()/2 + 1) }

// Forward transforms signals to spectra.
func (r *Real[R, C]) Forward(src device.Slice[R], dst device.Slice[C]) error {
	if err := r.fit(src, dst); err != nil {
		return err
	}
	return transform(r.to, src, dst, none)
}

// Inverse transforms spectra to signals, and overwrites the spectra. It does not scale: Forward
// followed by Inverse gives the signal times the number of its elements.
func (r *Real[R, C]) Inverse(src device.Slice[C], dst device.Slice[R]) error {
	if err := r.fit(dst, src); err != nil {
		return err
	}
	return transform(r.back, src, dst, none)
}

func (r *Real[R, C]) fit(signal device.Slice[R], spectrum device.Slice[C]) error {
	return errors.Join(
		fits("the signal", signal, r.shape.elements(r.shape.last())),
		fits("the spectrum", spectrum, r.Spectrum()))
}

// On returns the plan for another stream of the same device, such as a stream that records a graph.
// Work of the two plans must not run at the same time. Closing either plan closes both.
func (r *Real[R, C]) On(s *device.Stream) *Real[R, C] {
	return &Real[R, C]{r.to.plan.on(s), r.back.plan.on(s), r.shape}
}

// Close closes the plan. The workspace is freed when the enqueued work is done.
func (r *Real[R, C]) Close() error { return errors.Join(r.to.plan.close(), r.back.plan.close()) }
