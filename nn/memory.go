package nn

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Master returns the parameter's values in row-major order. They are float32 even if layers compute with bfloat16.
func (q *Parameter) Master(s *tensor.Scope) (device.Slice[float32], error) {
	m, err := q.params.Memory(s)
	if err != nil {
		return device.Slice[float32]{}, err
	}
	return m.Master.Slice(q.at, q.at+elementsOf(q.shape)), nil
}

// Values waits for the parameter's values and returns a copy of them.
func (q *Parameter) Values(s *tensor.Scope) ([]float32, error) {
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
	to, err := q.Master(s)
	if err != nil {
		return err
	}
	if len(values) != to.Len() {
		return fmt.Errorf("%w: %d for %v", ErrValues, len(values), q.shape)
	}
	if err := device.UploadTo(s.Stream(), to, values); err != nil {
		return err
	}
	if q.value.DType() == dtype.BFloat16 {
		copied, err := tensor.SliceOf[dtype.BF16](q.value)
		if err != nil {
			return err
		}
		if err := device.UploadTo(s.Stream(), copied, rounded(values)); err != nil {
			return err
		}
	}
	tensor.Changed(q.value, q.master)
	return nil
}

// Grad returns the derivative that Backward has added up, as a tensor without a Scope.
func (q *Parameter) Grad(s *tensor.Scope) (*tensor.Tensor, error) {
	_, err := q.params.Memory(s)
	return q.grad, err
}
