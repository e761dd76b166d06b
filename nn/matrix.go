package nn

import (
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/embedding"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
	"github.com/gopherwarp/gopherwarp/internal/kernels/quant"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// matrix is a matrix on a device in the format of its file.
type matrix interface {
	size() quant.Shape
	// multiply stores the products with n vectors in y: row i of y is the matrix times row i of x.
	multiply(s *device.Stream, n int, x, y device.Slice[float32]) error
	// gather stores the rows with the given numbers in y. A number outside the matrix yields zeros.
	gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error
}

// matrix loads a matrix of rows of the given number of columns.
func (l *loader) matrix(name string, rows, columns int) (matrix, error) {
	t, err := l.tensor(name)
	if err != nil {
		return nil, err
	}
	if s := t.Shape(); len(s) != 2 || s[0] != rows || s[1] != columns {
		return nil, fmt.Errorf("%w: %s is %v, want [%d %d]", ErrShape, name, s, rows, columns)
	}
	order := func(i int) int { return i }
	if l.options.Order != nil {
		if f := l.options.Order(name); f != nil {
			order = f
		}
	}
	data, err := l.rows(t, rows, order)
	if err != nil {
		return nil, err
	}
	shape := quant.Shape{Rows: rows, Columns: columns}
	switch t.Type() {
	case weights.Q4_0:
		return l.quantized(quant.Q4_0, data, shape)
	case weights.Q4_1:
		return l.quantized(quant.Q4_1, data, shape)
	case weights.Q8_0:
		return l.quantized(quant.Q8_0, data, shape)
	case weights.BF16:
		w, err := upload(l.params, cast[dtype.BF16](data))
		return dense{shape, w}, err
	}
	return nil, fmt.Errorf("%w: %s is of type %v", ErrFormat, name, t.Type())
}

// rows reads a matrix with its rows in the given order.
func (l *loader) rows(t *weights.Tensor, rows int, order func(i int) int) ([]byte, error) {
	data := make([]byte, t.Size())
	if _, err := t.ReadAt(data, 0); err != nil {
		return nil, err
	}
	size := len(data) / max(rows, 1)
	ordered, changed := data, false
	for i := range rows {
		from := order(i)
		if from != i && !changed {
			ordered, changed = append([]byte(nil), data...), true
		}
		if changed {
			copy(ordered[i*size:(i+1)*size], data[from*size:])
		}
	}
	return ordered, nil
}

// cast returns the memory of data as elements of T, which has no pointers. Lifetimes: the result keeps data alive. Memory of make is
// aligned for any T.
func cast[T any](data []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(zero)))
}

// quantized is a matrix of blocks.
type quantized struct{ quant.Matrix }

func (m quantized) size() quant.Shape { return m.Shape }

func (m quantized) multiply(s *device.Stream, n int, x, y device.Slice[float32]) error {
	return withScratch(s, quant.Workspace[float32, float32](s.Device(), m.Matrix, n), func(scratch device.Slice[float32]) error {
		return quant.Multiply(s, m.Matrix, quant.Operands[float32, float32]{Rows: n, X: x, Y: y, Workspace: scratch})
	})
}

func (m quantized) gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error {
	return quant.Gather(s, m.Matrix, rows, y)
}

// quantized uploads a matrix of blocks.
func (l *loader) quantized(f quant.Format, data []byte, shape quant.Shape) (matrix, error) {
	p, err := quant.Pack(f, data, shape)
	if err != nil {
		return nil, err
	}
	m := quant.Matrix{Shape: shape, Format: f}
	if m.Planes, err = upload(l.params, p.Planes); err != nil {
		return nil, err
	}
	if m.Scales, err = upload(l.params, p.Scales); err != nil {
		return nil, err
	}
	if f == quant.Q4_1 {
		m.Minima, err = upload(l.params, p.Minima)
	}
	return quantized{m}, err
}

// withScratch calls f with memory for n numbers, which is free after what f enqueues.
func withScratch(s *device.Stream, n int, f func(scratch device.Slice[float32]) error) error {
	b, err := device.MakeDirty[float32](s, n)
	if err != nil {
		return err
	}
	err = f(b.All())
	if e := b.Close(); err == nil {
		err = e
	}
	return err
}

// dense is a matrix of BF16 elements.
type dense struct {
	quant.Shape
	w device.Slice[dtype.BF16]
}

func (m dense) size() quant.Shape { return m.Shape }

func (m dense) multiply(s *device.Stream, n int, x, y device.Slice[float32]) error {
	shape := matvec.Shape{Rows: m.Rows, Columns: m.Columns}
	for i := range n {
		err := matvec.Multiply(s, shape, matvec.Operands[dtype.BF16]{W: m.w, X: x.Slice(i*m.Columns, (i+1)*m.Columns), Y: y.Slice(i*m.Rows, (i+1)*m.Rows)})
		if err != nil {
			return err
		}
	}
	return nil
}

func (m dense) gather(s *device.Stream, rows device.Slice[int32], y device.Slice[float32]) error {
	shape := embedding.Shape{Tokens: rows.Len(), Vocabulary: m.Rows, Columns: m.Columns}
	return embedding.Widen(s, shape, embedding.Operands[dtype.BF16, float32]{Table: m.w, Indices: rows, Out: y})
}

// floats returns the elements of a tensor as float32 numbers.
func floats(t *weights.Tensor) ([]float32, error) {
	data, err := t.Bytes()
	if err != nil {
		return nil, err
	}
	values := make([]float32, t.Len())
	switch t.Type() {
	case weights.BF16:
		for i, v := range cast[dtype.BF16](data) {
			values[i] = v.Float32()
		}
		return values, nil
	case weights.F16:
		for i, v := range cast[dtype.F16](data) {
			values[i] = v.Float32()
		}
		return values, nil
	}
	if err := gguf.Dequantize(t.Type(), values, data); err != nil {
		return nil, fmt.Errorf("%w: %s is of type %v", ErrFormat, t.Name(), t.Type())
	}
	return values, nil
}
