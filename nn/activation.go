package nn

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/activation"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// SwiGLU returns gate*sigmoid(gate)*up, of two tensors of float32 of the same shape (Shazeer, "GLU Variants Improve Transformer").
func SwiGLU(gate, up *tensor.Tensor) *tensor.Tensor {
	gate, up = gate.Contiguous(), up.Contiguous()
	return tensor.Op{Name: "SwiGLU", In: []*tensor.Tensor{gate, up}, DType: dtype.Float32, Shape: gate.Shape(), Launch: func(s *device.Stream, y *tensor.Tensor) error {
		if !slices.Equal(gate.Shape(), up.Shape()) {
			return fmt.Errorf("%w: %v and %v", tensor.ErrShape, gate.Shape(), up.Shape())
		}
		x, err := tensor.SlicesOf[float32](gate, up, y)
		if err != nil {
			return err
		}
		shape := activation.Shape{Rows: 1, Columns: y.Len()}
		return activation.SwiGLU(s, shape, activation.Separate, activation.Operands[float32]{Gate: x[0], Up: x[1], Y: x[2]})
	}}.Apply()
}

// An Attender computes the attention of a layer to the tokens before: q, k and v have a row for each token, of its heads one after
// another. It returns the results in the shape of q.
type Attender interface {
	Attend(q, k, v *tensor.Tensor) *tensor.Tensor
}
