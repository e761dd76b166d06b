package nn

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/activation"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// SwiGLU returns gate*sigmoid(gate)*up, of two tensors of activations of the same shape (Shazeer, "GLU Variants Improve Transformer").
func SwiGLU(gate, up *tensor.Tensor) *tensor.Tensor {
	gate, up = gate.Contiguous(), up.Contiguous()
	return tensor.Op{Name: "SwiGLU", In: []*tensor.Tensor{gate, up}, DType: gate.DType(), Shape: gate.Shape(), Launch: func(s *device.Stream, y *tensor.Tensor) error {
		if !slices.Equal(gate.Shape(), up.Shape()) {
			return fmt.Errorf("%w: %v and %v", tensor.ErrShape, gate.Shape(), up.Shape())
		}
		if y.DType() == dtype.BFloat16 {
			return swiGLU[dtype.BF16](s, gate, up, y)
		}
		return swiGLU[float32](s, gate, up, y)
	}}.Apply()
}

// swiGLU is SwiGLU for elements of a type.
func swiGLU[T dtype.BF16 | float32](s *device.Stream, gate, up, y *tensor.Tensor) error {
	x, err := tensor.SlicesOf[T](gate, up, y)
	if err != nil {
		return err
	}
	shape := activation.Shape{Rows: 1, Columns: y.Len()}
	return activation.SwiGLU(s, shape, activation.Separate, activation.Operands[T]{Gate: x[0], Up: x[1], Y: x[2]})
}
