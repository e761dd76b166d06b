package nn

import (
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
	if m, err := q.params.Memory(s); err == nil && m.assembled != nil {
		return slices.Clone(m.assembled[q.whole : q.whole+elementsOf(q.shape)]), nil
	}
	from, err := q.Master(s)
	if err != nil {
		return nil, err
	}
	values := make([]float32, from.Len())
	if err := device.Download(s.Stream(), values, from); err != nil {
		return nil, err
	}
	return values, s.Stream().Synchronize(s.Context())
}

// Set replaces the parameter's values by values in row-major order. If their number is not the number of elements, the error matches
// ErrValues.
func (q *Parameter) Set(s *tensor.Scope, values []float32) error {
	m, err := q.params.Memory(s)
	if err != nil {
		return err
	}
	if len(values) != elementsOf(q.shape) {
		return fmt.Errorf("%w: %d for %v", ErrValues, len(values), q.shape)
	}
	if err := q.upload(s.Stream(), m, values); err != nil {
		return err
	}
	tensor.Changed(q.tensors()...)
	return nil
}

// tensors returns the tensors of the value that this process has.
func (q *Parameter) tensors() []*tensor.Tensor {
	if q.master == nil {
		return []*tensor.Tensor{q.value}
	}
	return []*tensor.Tensor{q.value, q.master}
}

// Grad returns the derivative that Backward has added up, as a tensor without a Scope.
func (q *Parameter) Grad(s *tensor.Scope) (*tensor.Tensor, error) {
	_, err := q.params.Memory(s)
	return q.grad, err
}
