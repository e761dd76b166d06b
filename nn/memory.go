package nn

import (
	"context"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Master returns the parameter's values in row-major order. They are float32 even if layers compute with bfloat16. If other processes have some of
// them, the error is ErrDivided.
func (q *Parameter) Master(s *tensor.Scope) (device.Slice[float32], error) {
	m, err := q.params.Memory(s)
	if err == nil && !m.has(q) {
		err = ErrDivided
	}
	if err != nil {
		return device.Slice[float32]{}, err
	}
	return m.Master.Slice(q.at, q.at+elementsOf(q.shape)), nil
}

// Values waits for the parameter's values and returns a copy of them. If other processes have some of them, call Memory.Assemble first.
func (q *Parameter) Values(s *tensor.Scope) ([]float32, error) {
	return q.values(s, 0, elementsOf(q.shape))
}

// values returns n of the values that Values returns, from an element on.
func (q *Parameter) values(s *tensor.Scope, from, n int) ([]float32, error) {
	if m, err := q.params.Memory(s); err == nil && m.assembled != nil {
		return slices.Clone(m.assembled[q.whole+from : q.whole+from+n]), nil
	}
	master, err := q.Master(s)
	if err != nil {
		return nil, err
	}
	values := make([]float32, n)
	if err := device.Download(s.Stream(), values, master.Slice(from, from+n)); err != nil {
		return nil, err
	}
	return values, s.Stream().Synchronize(s.Context())
}

// Set replaces the parameter's values by the given values, in row-major order. If their number is not the number of elements, the
// error matches ErrValues.
func (q *Parameter) Set(s *tensor.Scope, values []float32) error {
	m, err := q.params.Memory(s)
	if err != nil {
		return err
	}
	if len(values) != elementsOf(q.shape) {
		return fmt.Errorf("%w: %d for %v", ErrValues, len(values), q.shape)
	}
	return q.change(s.Stream(), m, 0, values)
}

// change replaces the values from an element on.
func (q *Parameter) change(s *device.Stream, m *Memory, from int, values []float32) error {
	if err := q.upload(s, m, from, values); err != nil {
		return err
	}
	tensor.Changed(q.tensors()...)
	return nil
}

// replace replaces the values from an element on, before or after the first use of a parameter.
func (q *Parameter) replace(from int, values []float32) error {
	p, t := q.params, &q.params.trained
	switch {
	case t.err != nil:
		return t.err
	case t.memory == nil:
		q.initial = slices.Clone(q.initial) // which may be the caller's
		copy(q.initial[from:], values)
		return nil
	}
	if err := q.change(p.stream, t.memory, from, values); err != nil {
		return err
	}
	return p.stream.Synchronize(context.Background()) // other streams may use the parameter next
}

// current waits for n of the parameter's values, from an element on, and returns them. If no parameter was used yet, they are the initial ones.
func (q *Parameter) current(ctx context.Context, from, n int) (values []float32, err error) {
	if t := &q.params.trained; t.memory == nil && len(q.initial) > 0 {
		return q.initial[from : from+n], t.err
	}
	err = tensor.RunOn(ctx, q.params.stream, func(s *tensor.Scope) (err error) {
		values, err = q.values(s, from, n)
		return err
	})
	return values, err
}

// tensors returns the tensors of the value that this process has.
func (q *Parameter) tensors() []*tensor.Tensor {
	if q.master == nil {
		return []*tensor.Tensor{q.value}
	}
	return []*tensor.Tensor{q.value, q.master}
}

// Grad returns the sum of the derivatives that Backward has computed, as a tensor without a Scope.
func (q *Parameter) Grad(s *tensor.Scope) (*tensor.Tensor, error) {
	_, err := q.params.Memory(s)
	return q.grad, err
}
