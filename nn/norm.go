package nn

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/norm"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// RMSNorm divides vectors of Width elements by the root of the mean of their squares plus Epsilon, and multiplies by its weights.
type RMSNorm struct {
	Width   int
	Epsilon float32
	weight  device.Slice[float32]
	gain    device.Slice[dtype.BF16] // the weights for fused kernels, if activations are bfloat16
	out     dtype.Type               // of activations
	trained *Parameter
}

func (n *RMSNorm) load(from *loader, name string) error {
	values, err := from.vector(name+".weight", n.Width)
	if err != nil {
		return err
	}
	n.out = from.params.activations
	if n.weight, err = upload(from.params, values); err != nil || n.out != dtype.BFloat16 {
		return err
	}
	n.gain, err = upload(from.params, rounded(values))
	return err
}

// Forward returns the normalized rows of x, a tensor of the residual stream or of activations, as activations.
func (n *RMSNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	if n.trained != nil {
		return n.train(x)
	}
	x = x.Contiguous()
	return tensor.Op{Name: "RMSNorm", In: []*tensor.Tensor{x}, DType: n.out, Shape: x.Shape(), Launch: func(s *device.Stream, y *tensor.Tensor) error {
		if x.Dim(-1) != n.Width {
			return fmt.Errorf("%w: rows of %v for a norm of %d", tensor.ErrShape, x.Shape(), n.Width)
		}
		return n.launch(s, x, y)
	}}.Apply()
}

func (n *RMSNorm) launch(s *device.Stream, x, y *tensor.Tensor) error {
	shape := norm.Shape{Rows: x.Len() / n.Width, Columns: n.Width}
	switch {
	case y.DType() == dtype.Float32:
		v, err := tensor.SlicesOf[float32](x, y)
		if err != nil {
			return err
		}
		return norm.RMSNorm(s, shape, n.Epsilon, norm.Operands[float32]{X: v[0], Y: v[1], Weight: n.weight})
	case x.DType() == dtype.BFloat16:
		v, err := tensor.SlicesOf[dtype.BF16](x, y)
		if err != nil {
			return err
		}
		return norm.RMSNorm(s, shape, n.Epsilon, norm.Operands[dtype.BF16]{X: v[0], Y: v[1], Weight: n.weight})
	}
	from, err := tensor.SliceOf[float32](x)
	if err != nil {
		return err
	}
	to, err := tensor.SliceOf[dtype.BF16](y)
	if err != nil {
		return err
	}
	return norm.RMSNormNarrow(s, shape, n.Epsilon, norm.Narrowed{X: from, Y: to, Weight: n.weight})
}
