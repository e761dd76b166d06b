package nn

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// ForwardSum returns the results for the rows of x, plus the rows of residual. Both tensors are activations.
func (l *Linear) ForwardSum(x, residual *tensor.Tensor) *tensor.Tensor {
	if l.trained != nil || x.NeedsGrad() || residual.NeedsGrad() {
		return residual.Add(l.Forward(x))
	}
	x, residual = x.Contiguous(), residual.Contiguous()
	return tensor.Op{Name: "Linear", In: []*tensor.Tensor{x, residual}, DType: residual.DType(), Shape: residual.Shape(), Launch: func(s *device.Stream, y *tensor.Tensor) error {
		shape := x.Shape()
		if n := len(shape); n == 0 || shape[n-1] != l.In || !slices.Equal(append(shape[:n-1], l.Out), residual.Shape()) {
			return fmt.Errorf("%w: %v and %v for a matrix of %d x %d", tensor.ErrShape, x.Shape(), residual.Shape(), l.Out, l.In)
		}
		return l.matrix().multiply(s, product{x: x, y: y, bias: l.bias, half: l.half, to: residual})
	}}.Apply()
}

// residual returns the elements of p.to, or an empty slice if there is none.
func residual[T row.Number](p product) (device.Slice[T], error) {
	if p.to == nil {
		return device.Slice[T]{}, nil
	}
	return tensor.SliceOf[T](p.to)
}
