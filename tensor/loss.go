package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/internal/kernels/loss"
)

// CrossEntropy returns the mean of -log(p) over rows, where p is the softmax of a row of t at the row's label. Rows are along the last
// dimension. Labels is a tensor of int32 or int64 with the index of an element for each row. A row does not count if its label is out of
// range, such as -1. The result is a scalar, computed in float32, or in float64 if t is of float64. The mistake is ErrShape if the labels do
// not have the shape of t without its last dimension, and ErrDType for other types.
func (t *Tensor) CrossEntropy(labels *Tensor) *Tensor {
	const name = "CrossEntropy"
	s, err := checkLoss(name, t, labels)
	if err != nil {
		return failed(s, err)
	}
	x, labels := s.own(t), s.own(labels)
	sum := s.rowLosses(name, x, labels).Sum()
	return sum.Div(s.counted(name, x, labels).To(sum.dtype).Sum())
}

// CrossEntropyRows returns the loss of each row, -log(p); see CrossEntropy. For a row that does not count, the loss is 0. The result has
// the shape of labels. See CrossEntropy for the types and the mistakes.
func (t *Tensor) CrossEntropyRows(labels *Tensor) *Tensor {
	const name = "CrossEntropyRows"
	s, err := checkLoss(name, t, labels)
	if err != nil {
		return failed(s, err)
	}
	return s.rowLosses(name, s.own(t), s.own(labels))
}

// checkLoss returns the Scope of the operands of a loss, and their mistake.
func checkLoss(name string, t, labels *Tensor) (*Scope, error) {
	s, err := scopeOf(name, []*Tensor{t, labels})
	switch {
	case err != nil:
		return s, err
	case !isFloat(t.dtype):
		err = fmt.Errorf("%w: %v", ErrDType, t.dtype)
	case labels.dtype != dtype.Int32 && labels.dtype != dtype.Int64:
		err = fmt.Errorf("%w: labels of %v", ErrDType, labels.dtype)
	case len(t.shape) == 0 || !equal(labels.shape, t.shape[:len(t.shape)-1]):
		err = fmt.Errorf("%w: labels of %v for %v", ErrShape, labels.shape, t.shape)
	}
	if err != nil {
		err = mistake(name, err)
	}
	return s, err
}

// counted reports for each label whether it is an element of its row of x.
func (s *Scope) counted(name string, x, labels *Tensor) *Tensor {
	holds := func(op array.Op, v int) *Tensor {
		return s.apply(name, op, labels.shape, operands{x: labels, scalar: float64(v), out: dtype.Bool})
	}
	return holds(array.GreaterEqual, 0).Mul(holds(array.Less, x.Dim(-1)))
}

// rowLosses returns the losses of rows.
func (s *Scope) rowLosses(name string, x, labels *Tensor) *Tensor {
	if x.dtype == dtype.Float64 {
		return x.LogSoftmax(-1).Gather(-1, labels.Unsqueeze(-1)).Squeeze(-1).Neg()
	}
	if labels.dtype == dtype.Int64 {
		labels = Where(s.counted(name, x, labels), labels, s.full(name, -1, labels.dtype, nil)).To(dtype.Int32)
	}
	if x.dtype == dtype.Float16 {
		x = x.To(dtype.Float32)
	}
	x, labels = x.Contiguous(), labels.Contiguous()
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
	s.record(losses, step{name: name, in: []*Tensor{x}, save: []*Tensor{slope}, back: func(d *Derivative) []*Tensor {
		slope := d.Saved[0]
		return []*Tensor{s.apply(name, array.Mul, slope.shape, operands{x: slope, y: d.Grad.Unsqueeze(-1), out: slope.dtype})}
	}})
	return losses
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
