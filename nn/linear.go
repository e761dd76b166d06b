package nn

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Linear multiplies by a matrix: y = x W^T, for vectors x of In elements and y of Out elements.
type Linear struct {
	In, Out int
	weight  matrix
}

func (l *Linear) load(from *loader, name string) error {
	var err error
	if l.weight, err = from.matrix(name+".weight", l.Out, l.In); err != nil {
		return err
	}
	from.progress()
	return nil
}

// Forward returns the products of the rows of x, a tensor of float32 whose last dimension is In.
func (l *Linear) Forward(x *tensor.Tensor) *tensor.Tensor {
	return multiply("Linear", l.weight, x)
}

// multiply applies a matrix to the rows of x.
func multiply(op string, m matrix, x *tensor.Tensor) *tensor.Tensor {
	x = x.Contiguous()
	size, shape := m.size(), x.Shape()
	if n := len(shape); n > 0 {
		shape[n-1] = size.Rows
	}
	return tensor.Op{Name: op, In: []*tensor.Tensor{x}, DType: dtype.Float32, Shape: shape, Launch: func(s *device.Stream, y *tensor.Tensor) error {
		if x.Dim(-1) != size.Columns {
			return fmt.Errorf("%w: rows of %v for %d columns", tensor.ErrShape, x.Shape(), size.Columns)
		}
		v, err := tensor.SlicesOf[float32](x, y)
		if err != nil {
			return err
		}
		return m.multiply(s, x.Len()/size.Columns, v[0], v[1])
	}}.Apply()
}
