package nn

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// back returns the derivative of a product with X of a type.
func back(m matrix, of dtype.Type) func(d *tensor.Derivative) []*tensor.Tensor {
	return func(d *tensor.Derivative) []*tensor.Tensor {
		g := d.Grad.To(of)
		if b, ok := m.(brains); ok && of == dtype.BFloat16 {
			if sum := d.Sum(0); sum != nil {
				return []*tensor.Tensor{b.backTo(sum, g)}
			}
		}
		return []*tensor.Tensor{m.back(g)}
	}
}

func (m singles) back(g *tensor.Tensor) *tensor.Tensor { return times(g, m.w, m.Shape) }

func (m brains) back(g *tensor.Tensor) *tensor.Tensor {
	if g.DType() == dtype.BFloat16 {
		return times(g, m.w, m.Shape)
	}
	return g.MatMul(tensor.Op{Name: "Linear", In: []*tensor.Tensor{g}, DType: dtype.Float32, Shape: []int{m.Rows, m.Columns}, Launch: func(s *device.Stream, y *tensor.Tensor) error {
		to, err := tensor.SliceOf[float32](y)
		if err != nil {
			return err
		}
		return quant.ConvertBF16(s, device.Cover(to.Len(), 256), m.w, to)
	}}.Apply())
}

// backTo returns back(g) plus a sum.
func (m brains) backTo(sum, g *tensor.Tensor) *tensor.Tensor {
	t, err := tensor.Wrap(m.w, m.Rows, m.Columns)
	if err != nil {
		return void(g.Scope(), err)
	}
	return sum.AddMatMul(g, t)
}

// times returns the products of the rows of g and a dense matrix.
func times[T tensor.Element](g *tensor.Tensor, w device.Slice[T], size quant.Shape) *tensor.Tensor {
	t, err := tensor.Wrap(w, size.Rows, size.Columns)
	if err != nil {
		return void(g.Scope(), err)
	}
	return g.MatMul(t)
}

func (m quantized) back(g *tensor.Tensor) *tensor.Tensor {
	if g.DType() == dtype.Float16 { // there are kernels for float32 vectors
		return m.back(g.To(dtype.Float32)).To(dtype.Float16)
	}
	g = g.Contiguous()
	shape := g.Shape()
	if n := len(shape); n > 0 {
		shape[n-1] = m.Columns
	}
	return tensor.Op{Name: "Linear", In: []*tensor.Tensor{g}, DType: g.DType(), Shape: shape, Launch: func(s *device.Stream, y *tensor.Tensor) error {
		if g.Dim(-1) != m.Rows {
			return fmt.Errorf("%w: rows of %v for %d rows", tensor.ErrShape, g.Shape(), m.Rows)
		}
		if g.DType() == dtype.BFloat16 {
			return transposed[dtype.BF16](s, m, g, y)
		}
		return transposed[float32](s, m, g, y)
	}}.Apply()
}

// transposed multiplies the rows of g by a matrix, with scratch memory.
func transposed[T interface {
	tensor.Element
	quant.Element
}](s *device.Stream, m quantized, g, y *tensor.Tensor) error {
	v, err := tensor.SlicesOf[T](g, y)
	if err != nil {
		return err
	}
	x := quant.Operands[T, T]{Rows: g.Len() / m.Rows, X: v[0], Y: v[1]}
	return withScratch(s, quant.WorkspaceTransposed[T](s.Device(), m.Matrix, x.Rows), func(scratch device.Slice[float32]) error {
		x.Workspace = scratch
		return quant.MultiplyTransposed(s, m.Matrix, x)
	})
}
