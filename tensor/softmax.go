package tensor

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/kernels/softmax"
)

// Softmax returns exp(x) for each element x, divided by the sum of exp(x) along a dimension. For negative infinity, the result is 0. The
// result has the shape of t and its element type, or float32 for integers. The mistake is ErrValue if there is no such dimension.
func (t *Tensor) Softmax(dim int) *Tensor { return soft("Softmax", t, dim, false) }

// LogSoftmax returns the logarithms of Softmax. They are accurate even where Softmax rounds to 0. See Softmax for shapes, element types and
// mistakes.
func (t *Tensor) LogSoftmax(dim int) *Tensor { return soft("LogSoftmax", t, dim, true) }

// soft moves the dimension to the end and back.
func soft(name string, t *Tensor, dim int, log bool) *Tensor {
	s, err := scopeOf(name, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	at, err := dimension(dim, t.shape)
	if err == nil {
		err = computable(t.dtype)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	if !isFloat(t.dtype) {
		t = t.To(dtype.Float32)
	}
	if at != len(t.shape)-1 {
		return s.softRows(name, t.Transpose(at, -1).Contiguous(), log).Transpose(at, -1)
	}
	return s.softRows(name, t.Contiguous(), log)
}

// softRows computes the softmax of the last dimension of a contiguous tensor.
func (s *Scope) softRows(name string, t *Tensor, log bool) *Tensor {
	if t.err != nil {
		return t
	}
	var out *Tensor
	if t.dtype == dtype.Float64 {
		s.NoGrad(func() { out = soft64(t, log) })
	} else {
		out = s.empty(name, t.dtype, t.shape)
	}
	if out.err != nil {
		return out
	}
	var err error
	switch t.dtype {
	case dtype.Float32:
		err = softKernel[float32](s.stream, t, out, log)
	case dtype.BFloat16:
		err = softKernel[dtype.BF16](s.stream, t, out, log)
	case dtype.Float16:
		err = softKernel[dtype.F16](s.stream, t, out, log)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	s.record(out, step{name: name, in: []*Tensor{t}, saveResult: true, back: func(d *Derivative) []*Tensor {
		g, y := d.Grad, d.Result
		if log {
			return []*Tensor{g.Sub(y.Exp().Mul(g.Sum(-1).Unsqueeze(-1)))}
		}
		return []*Tensor{y.Mul(g.Sub(y.Mul(g).Sum(-1).Unsqueeze(-1)))}
	}})
	return out
}

// softKernel launches the kernel.
func softKernel[T interface {
	Element
	row.Number
}](s *device.Stream, t, out *Tensor, log bool) error {
	columns := t.Dim(-1)
	shape := softmax.Shape{Rows: t.Len() / max(columns, 1), Columns: columns}
	return softmax.Rows(s, shape, softmax.Options{Log: log}, softmax.Operands[T]{X: elements[T](t), Y: elements[T](out)})
}

// soft64 computes the softmax of rows of float64.
func soft64(t *Tensor, log bool) *Tensor {
	if t.Len() == 0 {
		return t.Scale(1)
	}
	down := t.Sub(finite(t.Max(-1).Unsqueeze(-1)))
	if log {
		return down.Sub(down.Exp().Sum(-1).Log().Unsqueeze(-1))
	}
	e := down.Exp()
	return e.Div(e.Sum(-1).Unsqueeze(-1))
}

// finite returns t with 0 for infinities and NaN.
func finite(t *Tensor) *Tensor {
	if t.err != nil {
		return t
	}
	zero := t.scope.zeros("Softmax", t.dtype, nil)
	return Where(t.Sub(t).Equal(zero), t, zero)
}

// LogSumExp returns the logarithms of the sums of exp(x) over dimensions. The result has the element type of t, or float32 for integers.
// See Max for dimensions and mistakes. LogSumExp does not overflow even if exp(x) does.
func (t *Tensor) LogSumExp(dims ...int) *Tensor {
	const name = "LogSumExp"
	s, err := scopeOf(name, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	a, err := axesOf(new(rooms), t.shape, dims)
	if err == nil {
		err = computable(t.dtype)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	switch {
	case !isFloat(t.dtype):
		t = t.To(dtype.Float32)
	case t.dtype != dtype.Float32 && t.dtype != dtype.Float64:
		// The sum of the greatest element and a logarithm may be near 0, so both need more digits than the result.
		return t.To(dtype.Float32).LogSumExp(dims...).To(t.dtype)
	}
	var top *Tensor
	s.NoGrad(func() {
		top = finite(reduce(name, folding{array.Greatest, false}, t, dims))
	})
	return t.Sub(top.Reshape(a.with...)).Exp().Sum(dims...).Log().Add(top)
}
