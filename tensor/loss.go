package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/internal/kernels/loss"
)

// CrossEntropy returns the mean of -log(p) over rows, where p is the softmax of a row of t at the row's label. Rows are along the last
// dimension. Labels is a tensor of int32 or int64 with the index of an element for each row. Rows with labels outside the row, such as -1,
// do not count. The result is a scalar, computed in float32, or in float64 if t is of float64.
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
	classes := s.full(name, float64(x.Dim(-1)), labels.dtype, nil)
	zero := s.zeros(name, labels.dtype, nil)
	counted := labels.GreaterEqual(zero).Mul(labels.Less(classes))
	if x.dtype == dtype.Float64 {
		chosen := x.LogSoftmax(-1).Gather(-1, labels.Unsqueeze(-1)).Sum().Neg()
		return chosen.Div(counted.Sum().To(x.dtype))
	}
	if labels.dtype == dtype.Int64 {
		labels = Where(counted, labels, s.full(name, -1, labels.dtype, nil)).To(dtype.Int32)
	}
	if x.dtype == dtype.Float16 {
		x = x.To(dtype.Float32)
	}
	return s.crossEntropy(name, x.Contiguous(), labels.Contiguous(), s.full(name, 1, dtype.Float32, nil).Div(counted.To(dtype.Float32).Sum()))
}

// crossEntropy returns the sum of the losses of rows times factor.
func (s *Scope) crossEntropy(name string, x, labels, factor *Tensor) *Tensor {
	losses, slope := s.empty(name, dtype.Float32, labels.shape), s.empty(name, x.dtype, x.shape)
	if s.err != nil {
		return s.fail(s.err)
	}
	var err error
	if x.dtype == dtype.BFloat16 {
		err = lossKernel[dtype.BF16](x, labels, losses, slope)
	} else {
		err = lossKernel[float32](x, labels, losses, slope)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	out := losses.Sum().Mul(factor)
	s.record(out, step{name: name, in: []*Tensor{x}, save: []*Tensor{slope, factor}, back: func(d *Derivative) []*Tensor {
		slope := d.Saved[0]
		return []*Tensor{s.apply(name, array.Mul, slope.shape, operands{x: slope, y: d.Grad.Mul(d.Saved[1]), out: slope.dtype})}
	}})
	return out
}

// lossKernel stores the losses of rows, and the derivative of their sum.
func lossKernel[T interface {
	Element
	loss.Element
}](x, labels, losses, slope *Tensor) error {
	shape := loss.Shape{Rows: labels.Len(), Columns: x.Dim(-1)}
	return loss.CrossEntropy(losses.scope.stream, shape, loss.Operands[T]{
		X: elements[T](x), Labels: elements[int32](labels), Losses: elements[float32](losses), DX: elements[T](slope), Scale: 1,
	})
}
