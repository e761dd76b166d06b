package nn

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/embedding"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Embedding is a table of Count vectors of Width elements.
type Embedding struct {
	Count, Width int
	table        matrix
	trained      *Parameter
}

func (e *Embedding) load(from *loader, name string) error {
	var err error
	e.table, err = from.matrix(name+".weight", e.Count, e.Width)
	from.progress()
	return err
}

// Forward returns the vectors with the given numbers, a tensor of int32, as a residual stream: as float32 numbers. A number outside the table yields zeros.
func (e *Embedding) Forward(numbers *tensor.Tensor) *tensor.Tensor {
	if e.trained != nil {
		return e.trained.beside(numbers).Take(0, numbers).To(dtype.Float32)
	}
	numbers = numbers.Contiguous()
	return tensor.Op{
		Name: "Embedding", In: []*tensor.Tensor{numbers}, DType: dtype.Float32, Shape: append(numbers.Shape(), e.Width),
		Launch: func(s *device.Stream, y *tensor.Tensor) error {
			rows, err := tensor.SliceOf[int32](numbers)
			if err != nil {
				return err
			}
			to, err := tensor.SliceOf[float32](y)
			if err != nil {
				return err
			}
			return e.table.gather(s, rows, to)
		},
	}.Apply()
}

// Scores returns the products of the normalized rows of the residual stream and all vectors, as float32 numbers: the head of a model
// whose output uses the table of its input.
func (e *Embedding) Scores(n *RMSNorm, x *tensor.Tensor) *tensor.Tensor {
	if e.trained != nil {
		return n.Forward(x).MatMul(e.trained.beside(x).T()).To(dtype.Float32)
	}
	return scores(e.table, n, x)
}

// Rows returns the rows of x, a residual stream of two dimensions, with the given numbers, a tensor of int32. A number outside x yields
// zeros.
func Rows(x, numbers *tensor.Tensor) *tensor.Tensor {
	if x.NeedsGrad() {
		return x.Take(0, numbers)
	}
	x, numbers = x.Contiguous(), numbers.Contiguous()
	return tensor.Op{
		Name: "Rows", In: []*tensor.Tensor{x, numbers}, DType: dtype.Float32, Shape: append(numbers.Shape(), x.Dim(1)),
		Launch: func(s *device.Stream, y *tensor.Tensor) error {
			rows, err := tensor.SliceOf[int32](numbers)
			if err != nil {
				return err
			}
			v, err := tensor.SlicesOf[float32](x, y)
			if err != nil {
				return err
			}
			shape := embedding.Shape{Tokens: rows.Len(), Vocabulary: x.Dim(0), Columns: x.Dim(1)}
			return embedding.Gather(s, shape, embedding.Operands[float32, float32]{Table: v[0], Indices: rows, Out: v[1]})
		},
	}.Apply()
}
