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
}

func (n *RMSNorm) load(from *loader, name string) error {
	values, err := from.vector(name+".weight", n.Width)
	if err != nil {
		return err
	}
	n.weight, err = upload(from.params, values)
	return err
}

// Forward returns the normalized rows of x, a tensor of float32.
func (n *RMSNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = x.Contiguous()
	return tensor.Op{Name: "RMSNorm", In: []*tensor.Tensor{x}, DType: dtype.Float32, Shape: x.Shape(), Launch: func(s *device.Stream, y *tensor.Tensor) error {
		return n.launch(s, normed{x: x, y: y})
	}}.Apply()
}

// AddForward returns the sum of x and a residual of the same shape, and the normalized rows of the sum.
func (n *RMSNorm) AddForward(x, residual *tensor.Tensor) (sum, y *tensor.Tensor) {
	x, residual = x.Contiguous(), residual.Contiguous()
	in := []*tensor.Tensor{x, residual}
	sum = tensor.Op{Name: "RMSNorm", In: in, DType: dtype.Float32, Shape: x.Shape(), Launch: func(s *device.Stream, sum *tensor.Tensor) error { return nil }}.Apply()
	y = tensor.Op{Name: "RMSNorm", In: append(in, sum), DType: dtype.Float32, Shape: x.Shape(), Launch: func(s *device.Stream, y *tensor.Tensor) error {
		return n.launch(s, normed{x, residual, sum, y})
	}}.Apply()
	return sum, y
}

// normed is the operands of a norm: of x, or of the sum of x and a residual that is not nil.
type normed struct{ x, residual, sum, y *tensor.Tensor }

func (n *RMSNorm) launch(s *device.Stream, of normed) error {
	x := of.x
	if x.Dim(-1) != n.Width {
		return fmt.Errorf("%w: rows of %v for a norm of %d", tensor.ErrShape, x.Shape(), n.Width)
	}
	o := norm.Operands[float32]{Weight: n.weight}
	for _, p := range []struct {
		t  *tensor.Tensor
		to *device.Slice[float32]
	}{{x, &o.X}, {of.y, &o.Y}, {of.residual, &o.Residual}, {of.sum, &o.Sum}} {
		if p.t == nil {
			continue
		}
		var err error
		if *p.to, err = tensor.SliceOf[float32](p.t); err != nil {
			return err
		}
	}
	return norm.RMSNorm(s, norm.Shape{Rows: x.Len() / n.Width, Columns: n.Width}, n.Epsilon, o)
}
