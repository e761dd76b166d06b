package nn

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/embedding"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// halves is a matrix of float16 elements. It multiplies vectors of the same type.
type halves struct {
	quant.Shape
	w device.Slice[dtype.F16]
}

func (m halves) size() quant.Shape { return m.Shape }

func (m halves) bytes() int64 { return sizeOf(m.w) }

func (m halves) back(g *tensor.Tensor) *tensor.Tensor {
	return times(g.To(dtype.Float16), m.w, m.Shape)
}

func (m halves) gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error {
	shape := embedding.Shape{Tokens: rows.Len(), Vocabulary: m.Rows, Columns: m.Columns}
	return embedding.Widen(s, shape, embedding.Operands[dtype.F16, float32]{Table: m.w, Indices: rows, Out: y})
}

func (m halves) multiply(s *device.Stream, p product) error {
	if p.y.DType() != dtype.Float16 {
		return fmt.Errorf("%w: a product of float16 activations that is added to the residual stream", ErrFormat)
	}
	v, err := tensor.SlicesOf[dtype.F16](p.x, p.y)
	if err != nil {
		return err
	}
	x := gemm.Operands[dtype.F16, dtype.F16, dtype.F16]{A: v[0], B: m.w, C: v[1], Bias: p.bias, Weights: true, Activation: p.activation}
	if x.Residual, err = residual[dtype.F16](p); err != nil {
		return err
	}
	shape := gemm.Shape{Layout: gemm.NT, M: p.rows(m.Columns), N: m.Rows, K: m.Columns}
	return withScratch(s, gemm.Workspace(s.Device(), shape, x.Activation), func(scratch device.Slice[float32]) error {
		x.Workspace = scratch
		return gemm.Half(s, shape, x)
	})
}

// shorten converts the elements of a dense matrix to float16, rounded to nearest.
func shorten(to []dtype.F16, m stored) {
	if m.of == weights.F16 {
		copy(to, cast[dtype.F16](m.data))
		return
	}
	values := make([]float32, len(to))
	widen(values, m)
	for i, v := range values {
		to[i] = dtype.F16From32(v)
	}
}

// plainly returns a product of float16 vectors, computed as tensor.Linear does.
func (m halves) plainly(p product) *tensor.Tensor {
	w, err := tensor.Wrap(m.w, m.Rows, m.Columns)
	if err != nil {
		return void(p.x.Scope(), err)
	}
	if p.bias.Len() == 0 {
		return p.x.Linear(w, nil)
	}
	bias, err := tensor.Wrap(p.bias, p.bias.Len())
	if err != nil {
		return void(p.x.Scope(), err)
	}
	return p.x.Linear(w, bias)
}
