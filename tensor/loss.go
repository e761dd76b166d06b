package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// CrossEntropy returns the mean of -log(p) over rows, where p is the softmax of a row of t at the row's label. Rows are along the last
// dimension, and labels, a tensor of int32 or int64, has a number for each. Rows with labels outside the row, such as -1, do
// not count. The result is a scalar, computed in float32, or in float64 if t is of float64.
func (t *Tensor) CrossEntropy(labels *Tensor) *Tensor {
	const name = "CrossEntropy"
	s, err := scopeOf(name, []*Tensor{t, labels})
	switch {
	case err != nil:
		return failed(s, err)
	case !isFloat(t.dtype):
		err = fmt.Errorf("%w: %v", ErrDType, t.dtype)
	case labels.dtype != dtype.Int32 && labels.dtype != dtype.Int64:
		err = fmt.Errorf("%w: labels of %v", ErrDType, labels.dtype)
	case len(t.shape) == 0 || !equal(labels.shape, t.shape[:len(t.shape)-1]):
		err = fmt.Errorf("%w: labels of %v for %v", ErrShape, labels.shape, t.shape)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	x, labels := s.own(t), s.own(labels)
	if x.dtype != dtype.Float64 {
		x = x.To(dtype.Float32)
	}
	chosen := x.LogSoftmax(-1).Gather(-1, labels.Unsqueeze(-1)).Sum().Neg()
	classes := s.full(name, float64(x.Dim(-1)), labels.dtype, nil)
	zero := s.zeros(name, labels.dtype, nil)
	return chosen.Div(labels.GreaterEqual(zero).Mul(labels.Less(classes)).Sum().To(x.dtype))
}
