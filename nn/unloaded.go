package nn

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// ErrUnloaded is the error of a layer without parameters. The program must load the layer's model by Load, or make the layer by a function
// such as NewLinear.
var ErrUnloaded = errors.New("nn: the layer has no parameters")

// unloaded takes the place of the matrix of a layer without parameters.
type unloaded struct {
	quant.Shape
	make string // the function that makes a layer that is trained, or "" if there is none
}

func (m unloaded) err() error {
	if m.make == "" {
		return fmt.Errorf("%w: call Load", ErrUnloaded)
	}
	return fmt.Errorf("%w: call Load or %s", ErrUnloaded, m.make)
}

func (m unloaded) size() quant.Shape { return m.Shape }

func (m unloaded) bytes() int64 { return 0 }

func (m unloaded) multiply(*device.Stream, product) error { return m.err() }

func (m unloaded) gather(*device.Stream, device.Slice[int32], device.Slice[float32]) error {
	return m.err()
}

func (m unloaded) back(g *tensor.Tensor) *tensor.Tensor { return m.void("Linear", g) }

// void returns a tensor with the mistake of an operation on x.
func (m unloaded) void(op string, x *tensor.Tensor) *tensor.Tensor {
	return tensor.Op{Name: op, In: []*tensor.Tensor{x}, DType: dtype.Float32, Shape: []int{0}, Launch: func(*device.Stream, *tensor.Tensor) error { return m.err() }}.Apply()
}

// matrix returns the constant matrix of the layer.
func (l *Linear) matrix() matrix {
	if l.weight == nil {
		return unloaded{quant.Shape{Rows: l.Out, Columns: l.In}, "NewLinear"}
	}
	return l.weight
}

// matrix returns the constant table.
func (e *Embedding) matrix() matrix {
	if e.table == nil {
		return unloaded{quant.Shape{Rows: e.Count, Columns: e.Width}, "NewEmbedding"}
	}
	return e.table
}
