package nn

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Embedding is a table of Count vectors of Width elements.
type Embedding struct {
	Count, Width int
	table        matrix
}

func (e *Embedding) load(from *loader, name string) error {
	var err error
	e.table, err = from.matrix(name+".weight", e.Count, e.Width)
	from.progress()
	return err
}

// Forward returns the vectors with the given numbers, a tensor of int32. A number outside the table yields zeros.
func (e *Embedding) Forward(numbers *tensor.Tensor) *tensor.Tensor {
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

// Scores returns the products of the rows of x and all vectors: the head of a model whose output uses the table of its input.
func (e *Embedding) Scores(x *tensor.Tensor) *tensor.Tensor {
	return multiply("Scores", e.table, x)
}
