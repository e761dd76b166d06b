package nn

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/embedding"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Embedding is a table of Count vectors of Width elements.
type Embedding struct {
	Count, Width int
	table        matrix
	trained      *Parameter
}

func (e *Embedding) load(from *loader, name string) (err error) {
	if from.options.Train {
		e.trained, err = from.parameter(join(name, "weight"), e.Count, e.Width)
		from.progress()
		return err
	}
	e.table, err = from.matrix(join(name, "weight"), e.Count, e.Width)
	from.progress()
	return err
}

// Forward returns the vectors with the given numbers as a residual stream, in float32. numbers is a tensor of int32; a number outside the
// table yields zeros.
func (e *Embedding) Forward(numbers *tensor.Tensor) *tensor.Tensor {
	if e.trained != nil {
		return e.trained.beside(numbers).Take(0, numbers).To(dtype.Float32)
	}
	return gathered(e.matrix(), numbers)
}

// gathered returns the rows of a matrix with the given numbers, as float32 numbers.
func gathered(m matrix, numbers *tensor.Tensor) *tensor.Tensor {
	numbers = numbers.Contiguous()
	return tensor.Op{
		Name: "Embedding", In: []*tensor.Tensor{numbers}, DType: dtype.Float32, Shape: append(numbers.Shape(), m.size().Columns),
		Launch: func(s *device.Stream, y *tensor.Tensor) error {
			rows, err := tensor.SliceOf[int32](numbers)
			if err != nil {
				return err
			}
			to, err := tensor.SliceOf[float32](y)
			if err != nil {
				return err
			}
			return m.gather(s, rows, to)
		},
	}.Apply()
}

// Scores normalizes the rows of x, a residual stream, and returns their products with all vectors of the table, as float32. Scores is the head
// of a model that uses the same table for its input and its output.
func (e *Embedding) Scores(n *RMSNorm, x *tensor.Tensor) *tensor.Tensor {
	if e.trained != nil {
		return n.Forward(x).MatMul(e.trained.beside(x).T()).To(dtype.Float32)
	}
	return scores(e.matrix(), n, x)
}

// Rows returns rows of x, which is a residual stream of two dimensions. The tensor numbers, of type int32, selects the rows. A number outside
// x yields a row of zeros.
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

// SumForward returns the input of an encoder: for each token, the sum of one vector from each table. The tensor numbers[i], of int32, selects
// the vectors of tables[i]. The result has the type of activations on GPUs, and float32 on other devices.
func SumForward(tables [3]*Embedding, numbers [3]*tensor.Tensor) *tensor.Tensor {
	for i, n := range numbers {
		numbers[i] = n.Contiguous()
	}
	if s := numbers[0].Scope(); s != nil && alignedNumbers(numbers) && embedding.SumFits(s.Stream(), tables[0].Width) {
		if list, ok := weightsOf(tables, func(m matrix) (device.Slice[dtype.BF16], bool) { b, ok := m.(brains); return b.w, ok }); ok {
			return sumRows(tables[0].Width, list, numbers)
		}
		if list, ok := weightsOf(tables, func(m matrix) (device.Slice[dtype.F16], bool) { h, ok := m.(halves); return h.w, ok }); ok {
			return sumRows(tables[0].Width, list, numbers)
		}
	}
	return tables[0].Forward(numbers[0]).Add(tables[1].Forward(numbers[1])).Add(tables[2].Forward(numbers[2]))
}

// alignedNumbers reports whether numbers begin at multiples of the bytes that embedding.Sum needs.
func alignedNumbers(numbers [3]*tensor.Tensor) bool {
	for _, n := range numbers {
		if x, err := tensor.SliceOf[int32](n); err != nil || !x.Aligned(row.VectorBytes) {
			return false
		}
	}
	return true
}

// weightsOf returns the elements of tables, and whether all have the same type and width.
func weightsOf[T any](tables [3]*Embedding, of func(m matrix) (device.Slice[T], bool)) (list [3]device.Slice[T], ok bool) {
	for i, e := range tables {
		if list[i], ok = of(e.table); !ok || e.Width != tables[0].Width {
			return list, false
		}
	}
	return list, true
}

// sumRows is SumForward by a kernel.
func sumRows[T dtype.BF16 | dtype.F16](width int, tables [3]device.Slice[T], numbers [3]*tensor.Tensor) *tensor.Tensor {
	of, _ := dtype.Of[T]()
	return tensor.Op{
		Name: "Embedding", In: numbers[:], DType: of, Shape: append(numbers[0].Shape(), width),
		Launch: func(s *device.Stream, y *tensor.Tensor) error {
			at, err := tensor.SlicesOf[int32](numbers[:]...)
			if err != nil {
				return err
			}
			to, err := tensor.SliceOf[T](y)
			if err != nil {
				return err
			}
			var rows [3]embedding.Rows[T]
			for i := range rows {
				rows[i] = embedding.Rows[T]{Table: tables[i], Indices: at[i]}
			}
			return embedding.Sum(s, width, rows, to)
		},
	}.Apply()
}
