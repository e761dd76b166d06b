package nn

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Master returns the parameter's values in row-major order, as float32 numbers also where layers compute with bfloat16.
func (q *Parameter) Master(s *tensor.Scope) (device.Slice[float32], error) {
	m, err := q.params.Memory(s)
	if err != nil {
		return device.Slice[float32]{}, err
	}
	n := 1
	for _, d := range q.shape {
		n *= d
	}
	return m.Master.Slice(q.at, q.at+n), nil
}

// Grad returns the derivative that Backward adds to, as a tensor without a Scope.
func (q *Parameter) Grad(s *tensor.Scope) (*tensor.Tensor, error) {
	_, err := q.params.Memory(s)
	return q.grad, err
}
