package nn

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
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
	if x.Err() != nil || labels.Err() != nil || s == nil || x.Dim(-1) != size.Columns || x.Len()/size.Columns != labels.Len() || labels.Len() == 0 {
		return multiply("CrossEntropy", m, product{x: x}, dtype.Float32).CrossEntropy(labels) // the mistake, or a loss of no rows
	}
	wanted := x.NeedsGrad()
	x, labels = x.Reshape(-1, size.Columns), labels.Reshape(-1)
	counted := labels.GreaterEqual(tensor.Zeros(s, labels.DType())).Mul(labels.Less(tensor.Full(s, float64(size.Rows), labels.DType())))
	factor := tensor.Full(s, 1, dtype.Float32).Div(counted.Sum().To(dtype.Float32))
	var losses, slopes []*tensor.Tensor
	s.NoGrad(func() {
		step := max(1, logits/size.Rows)
		for from := 0; from < labels.Len(); from += step {
			to := min(from+step, labels.Len())
			part := chunk{m, x.Slice(0, from, to), labels.Slice(0, from, to), counted.Slice(0, from, to)}
			loss, slope := part.run(wanted)
			losses, slopes = append(losses, loss), append(slopes, slope)
		}
	})
	loss := tensor.Concat(0, losses...).Sum().Mul(factor)
	if !wanted || loss.Err() != nil {
		return loss
	}
	var slope *tensor.Tensor
	s.NoGrad(func() { slope = tensor.Concat(0, slopes...).Mul(factor) })
	return tensor.Op{
		Name: "CrossEntropy", In: []*tensor.Tensor{x}, DType: dtype.Float32, Save: []*tensor.Tensor{slope},
		Launch: func(st *device.Stream, y *tensor.Tensor) error {
			v, err := tensor.SlicesOf[float32](loss, y)
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
	m                  matrix
	x, labels, counted *tensor.Tensor
}

// run returns the losses of all rows and, if it is wanted, the derivative of their sum with respect to x.
func (c chunk) run(wanted bool) (losses, slope *tensor.Tensor) {
	s := c.x.Scope()
	losses = s.Tidy(func() *tensor.Tensor {
		at := c.labels.Unsqueeze(1)
		scores := multiply("CrossEntropy", c.m, product{x: c.x}, dtype.Float32)
		if wanted {
			d := scores.Softmax(-1).ScatterAdd(1, at, tensor.Full(s, -1, dtype.Float32, at.Shape()...)).Mul(c.counted.Unsqueeze(1))
			slope = d.To(c.x.DType()).MatMul(c.m.values(s).To(c.x.DType()))
			s.Keep(slope)
		}
		return scores.LogSoftmax(-1).Gather(1, at).Neg()
	})
	return losses, slope
}
