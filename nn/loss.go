package nn

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/loss"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// logits is the greatest number of float32 scores that CrossEntropy has in memory.
const logits = 1 << 24

// CrossEntropy returns Forward(x).CrossEntropy(labels) without the scores of all rows in memory. If the layer is not trained, it computes the
// scores of some rows at a time, and also the derivative with respect to x (Hsu et al., "Liger Kernel").
func (l *Linear) CrossEntropy(x, labels *tensor.Tensor) *tensor.Tensor {
	if l.trained != nil || l.Bias {
		return l.Forward(x).CrossEntropy(labels)
	}
	return crossEntropy(l.weight, x, labels)
}

// CrossEntropy is Linear.CrossEntropy for the products of the rows of x and all vectors.
func (e *Embedding) CrossEntropy(x, labels *tensor.Tensor) *tensor.Tensor {
	if e.trained != nil {
		return x.MatMul(e.trained.beside(x).T()).CrossEntropy(labels)
	}
	return crossEntropy(e.table, x, labels)
}

// crossEntropy computes the loss, and its derivative with respect to x, by parts of the rows.
func crossEntropy(m matrix, x, labels *tensor.Tensor) *tensor.Tensor {
	size := m.size()
	s := x.Scope()
	if x.Err() != nil || labels.Err() != nil || s == nil || x.Dim(-1) != size.Columns || x.Len()/size.Columns != labels.Len() || labels.Len() == 0 || labels.DType() != dtype.Int32 && labels.DType() != dtype.Int64 {
		return multiply("CrossEntropy", m, product{x: x}, dtype.Float32).CrossEntropy(labels) // the mistake, or a loss of no rows
	}
	wanted := x.NeedsGrad()
	x, labels = x.Reshape(-1, size.Columns), labels.Reshape(-1)
	counted := labels.GreaterEqual(tensor.Zeros(s, labels.DType())).Mul(labels.Less(tensor.Full(s, float64(size.Rows), labels.DType())))
	labels = tensor.Where(counted, labels, tensor.Full(s, -1, labels.DType())).To(dtype.Int32)
	factor := tensor.Full(s, 1, dtype.Float32).Div(counted.Sum().To(dtype.Float32))
	var losses, slopes []*tensor.Tensor
	s.NoGrad(func() {
		step := max(1, logits/size.Rows)
		for from := 0; from < labels.Len(); from += step {
			to := min(from+step, labels.Len())
			part := chunk{m, x.Slice(0, from, to), labels.Slice(0, from, to)}
			l, slope := part.run(wanted)
			losses, slopes = append(losses, l), append(slopes, slope)
		}
	})
	mean := tensor.Concat(0, losses...).Sum().Mul(factor)
	if !wanted || mean.Err() != nil {
		return mean
	}
	var slope *tensor.Tensor
	s.NoGrad(func() { slope = tensor.Concat(0, slopes...).Mul(factor) })
	return tensor.Op{
		Name: "CrossEntropy", In: []*tensor.Tensor{x}, DType: dtype.Float32, Save: []*tensor.Tensor{slope},
		Launch: func(st *device.Stream, y *tensor.Tensor) error {
			v, err := tensor.SlicesOf[float32](mean, y)
			if err != nil {
				return err
			}
			return device.Copy(st, v[1], v[0])
		},
		Back: func(d *tensor.Derivative) []*tensor.Tensor { return []*tensor.Tensor{d.Saved[0].Mul(d.Grad)} },
	}.Apply()
}

// chunk is rows whose scores are in memory together.
type chunk struct {
	m         matrix
	x, labels *tensor.Tensor
}

// run returns the losses of all rows and, if it is wanted, the derivative of their sum with respect to x.
func (c chunk) run(wanted bool) (losses, slope *tensor.Tensor) {
	s := c.x.Scope()
	losses = s.Tidy(func() *tensor.Tensor {
		scores := multiply("CrossEntropy", c.m, product{x: c.x}, dtype.Float32)
		losses := rowLosses(scores, c.labels)
		if wanted && losses.Err() == nil { // scores are the derivative now
			slope = c.m.back(scores.To(c.x.DType()))
			s.Keep(slope)
		}
		return losses
	})
	return losses, slope
}

// rowLosses returns the losses of rows of scores, which become the derivative of their sum.
func rowLosses(scores, labels *tensor.Tensor) *tensor.Tensor {
	return tensor.Op{
		Name: "CrossEntropy", In: []*tensor.Tensor{scores, labels}, DType: dtype.Float32, Shape: labels.Shape(),
		Launch: func(s *device.Stream, losses *tensor.Tensor) error {
			v, err := tensor.SlicesOf[float32](scores, losses)
			if err != nil {
				return err
			}
			at, err := tensor.SliceOf[int32](labels)
			if err != nil {
				return err
			}
			shape := loss.Shape{Rows: scores.Dim(0), Columns: scores.Dim(1)}
			return loss.CrossEntropy(s, shape, loss.Operands[float32]{X: v[0], Labels: at, Losses: v[1], DX: v[0], Scale: 1})
		},
	}.Apply()
}
