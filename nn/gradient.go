package nn

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// back returns the derivative with respect to X of a product of a matrix W: dX = dY W.
func back(m matrix, of dtype.Type) func(d *tensor.Derivative) []*tensor.Tensor {
	return func(d *tensor.Derivative) []*tensor.Tensor {
		s := d.Grad.Scope()
		return []*tensor.Tensor{d.Grad.To(of).MatMul(m.values(s).To(of))}
	}
}

func (m singles) values(s *tensor.Scope) *tensor.Tensor { return wrapped(s, m.w, m.Shape) }

func (m brains) values(s *tensor.Scope) *tensor.Tensor { return wrapped(s, m.w, m.Shape) }

// wrapped returns the elements of a matrix as a tensor.
func wrapped[T tensor.Element](s *tensor.Scope, w device.Slice[T], size quant.Shape) *tensor.Tensor {
	t, err := tensor.Wrap(w, size.Rows, size.Columns)
	if err != nil {
		return void(s, err)
	}
	return s.Use(t)
}

func (m quantized) values(s *tensor.Scope) *tensor.Tensor {
	rows := tensor.Arange(s, m.Rows).To(dtype.Int32)
	return tensor.Op{
		Name: "Dequantize", In: []*tensor.Tensor{rows}, DType: dtype.Float32, Shape: []int{m.Rows, m.Columns},
		Launch: func(s *device.Stream, y *tensor.Tensor) error {
			at, err := tensor.SliceOf[int32](rows)
			if err != nil {
				return err
			}
			to, err := tensor.SliceOf[float32](y)
			if err != nil {
				return err
			}
			return m.gather(s, at, to)
		},
	}.Apply()
}
