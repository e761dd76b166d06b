package nn

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/loss"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// The greatest numbers of float32 scores that CrossEntropy has in memory: on CPUs, and on GPUs, where products of many rows are faster.
const (
	logitsCPU = 1 << 24
	logitsGPU = 1 << 27
)

// portion returns the number of rows whose scores are in memory at a time: if there can be some, a multiple of the rows of a tile of products.
func (c scorer) portion(s *tensor.Scope) int {
	const tile = 128
	most := logitsGPU
	if s.Stream().Device().Info().Kind == "cpu" {
		most = logitsCPU
	}
	if c.most > 0 {
		most = c.most
	}
	n := max(1, most/c.rows)
	return n - n%min(tile, n)
}

// CrossEntropy returns Forward(x).CrossEntropy(labels), but never holds the scores of all rows in memory. It computes the scores of some
// rows at a time (Hsu et al., "Liger Kernel"). If the layer is not trained and has no bias, it computes the derivative with respect to x in the
// same pass; otherwise, Backward computes the scores again.
func (l *Linear) CrossEntropy(x, labels *tensor.Tensor) *tensor.Tensor {
	return l.scorer().mean(x, labels)
}

// Losses returns the cross-entropy of each row of x, or 0 if the label is out of range. See CrossEntropy.
func (l *Linear) Losses(x, labels *tensor.Tensor) *tensor.Tensor { return l.scorer().losses(x, labels) }

// CrossEntropy is like Linear.CrossEntropy. The scores are the products of the rows of x with all vectors of the table.
func (e *Embedding) CrossEntropy(x, labels *tensor.Tensor) *tensor.Tensor {
	return e.scorer().mean(x, labels)
}

// Losses is like Linear.Losses. The scores are the products of the rows of x with all vectors of the table.
func (e *Embedding) Losses(x, labels *tensor.Tensor) *tensor.Tensor {
	return e.scorer().losses(x, labels)
}

// scorer computes losses: of a constant matrix, or by a function that returns the scores of rows.
type scorer struct {
	rows, columns int // of the matrix
	most          int // scores that are in memory at a time; 0 for a number that depends on the device
	constant      matrix
	scores        func(x *tensor.Tensor) *tensor.Tensor
}

func (l *Linear) scorer() scorer {
	s := scorer{rows: l.Out, columns: l.In, scores: l.Forward}
	if l.trained == nil && !l.Bias {
		s.constant = l.matrix()
	}
	return s
}

func (e *Embedding) scorer() scorer {
	s := scorer{rows: e.Count, columns: e.Width, scores: func(x *tensor.Tensor) *tensor.Tensor { return x.Linear(e.trained.beside(x), nil) }}
	if e.trained == nil {
		s.constant = e.matrix()
		s.scores = func(x *tensor.Tensor) *tensor.Tensor {
			return multiply("CrossEntropy", s.constant, product{x: x}, dtype.Float32)
		}
	}
	return s
}

// fits reports whether operands are those of losses.
func (c scorer) fits(x, labels *tensor.Tensor) bool {
	integers := labels.DType() == dtype.Int32 || labels.DType() == dtype.Int64
	return x.Err() == nil && labels.Err() == nil && x.Scope() != nil && x.Dim(-1) == c.columns && x.Len()/c.columns == labels.Len() && labels.Len() > 0 && integers
}

// counted reports for each label whether it is a row of the matrix.
func (c scorer) counted(labels *tensor.Tensor) *tensor.Tensor {
	s, of := labels.Scope(), labels.DType()
	return labels.GreaterEqual(tensor.Zeros(s, of)).Mul(labels.Less(tensor.Full(s, float64(c.rows), of)))
}

// mean returns the mean of the losses of the labels that count.
func (c scorer) mean(x, labels *tensor.Tensor) *tensor.Tensor {
	if !c.fits(x, labels) {
		return c.scores(x).CrossEntropy(labels) // the mistake, or a loss of no rows
	}
	return c.losses(x, labels).Sum().Div(c.counted(labels).To(dtype.Float32).Sum())
}

// losses returns the loss of each row, which it computes by parts of the rows.
func (c scorer) losses(x, labels *tensor.Tensor) *tensor.Tensor {
	if !c.fits(x, labels) {
		return c.scores(x).CrossEntropy(labels)
	}
	s := x.Scope()
	x, labels = x.Reshape(-1, c.columns), labels.Reshape(-1)
	labels = tensor.Where(c.counted(labels), labels, tensor.Full(s, -1, labels.DType())).To(dtype.Int32)
	if c.constant != nil {
		return c.constantLosses(x, labels)
	}
	if step := c.portion(s); step < labels.Len() {
		var list []*tensor.Tensor
		for from := 0; from < labels.Len(); from += step {
			to := min(from+step, labels.Len())
			wanted := labels.Slice(0, from, to)
			list = append(list, tensor.Checkpoint(func(x *tensor.Tensor) *tensor.Tensor { return c.scores(x).CrossEntropyRows(wanted) }, x.Slice(0, from, to)))
		}
		return tensor.Concat(0, list...)
	}
	return c.scores(x).CrossEntropyRows(labels)
}

// constantLosses returns the loss of each row and, if it is needed, computes the derivative with respect to x.
func (c scorer) constantLosses(x, labels *tensor.Tensor) *tensor.Tensor {
	s, wanted := x.Scope(), x.NeedsGrad()
	var losses, slopes []*tensor.Tensor
	s.NoGrad(func() {
		step := c.portion(s)
		for from := 0; from < labels.Len(); from += step {
			to := min(from+step, labels.Len())
			part := chunk{c.constant, x.Slice(0, from, to), labels.Slice(0, from, to)}
			l, slope := part.run(wanted)
			losses, slopes = append(losses, l), append(slopes, slope)
		}
	})
	all := tensor.Concat(0, losses...)
	if !wanted || all.Err() != nil {
		return all
	}
	var slope *tensor.Tensor
	s.NoGrad(func() { slope = tensor.Concat(0, slopes...) })
	return tensor.Op{
		Name: "CrossEntropy", In: []*tensor.Tensor{x}, DType: dtype.Float32, Shape: all.Shape(), Save: []*tensor.Tensor{slope},
		Launch: func(st *device.Stream, y *tensor.Tensor) error {
			v, err := tensor.SlicesOf[float32](all, y)
			if err != nil {
				return err
			}
			return device.Copy(st, v[1], v[0])
		},
		Back: func(d *tensor.Derivative) []*tensor.Tensor {
			return []*tensor.Tensor{d.Saved[0].Mul(d.Grad.Reshape(-1, 1)).To(d.Saved[0].DType())}
		},
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
