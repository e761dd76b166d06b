package lora

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Rows assigns an adapter of a Set, or none, to each row of a batch. With the zero value, no row uses an adapter.
type Rows struct{ groups device.Slice[lora.Group] }

// groupLen is the number of elements of a group in Plan's result.
const groupLen = 9

// PlanLen returns the number of elements of a plan for the given number of rows.
func (x *Set) PlanLen(rows int) int { return groupLen * lora.MaxGroups(rows, x.Adapters) }

// Plan returns the plan of a batch, as numbers to upload for Planned. Element i of adapters is the number of row i's adapter, counted from 0, or a
// negative number for no adapter.
func (x *Set) Plan(adapters []int32) []int32 {
	list := make([]int32, 0, x.PlanLen(len(adapters)))
	for _, g := range lora.Groups(adapters, lora.MaxGroups(len(adapters), x.Adapters)) {
		list = append(append(list, g.Adapter), g.Rows[:]...)
	}
	return list
}

// Planned returns the Rows of a plan. Set.Plan computes a plan, and the caller uploads it to the device. The plan may change between launches
// of a graph.
func Planned(plan device.Slice[int32]) Rows { return Rows{device.View[lora.Group](plan)} }

// None reports whether no row uses an adapter.
func (r Rows) None() bool { return r.groups.Len() == 0 }

// A Bank has the matrices of all adapters of a Set for one to three linear layers with the same input.
type Bank struct {
	set      *Set
	shape    lora.Shape // Rows is 0
	matrices matrices   // nil if no adapter has any
}

// results returns the number of results of all layers.
func (b *Bank) results() (n int) {
	for _, c := range b.shape.Parts {
		n += c
	}
	return n
}

// Uses reports whether Add has an effect for these Rows.
func (b *Bank) Uses(r Rows) bool { return b != nil && b.matrices != nil && !r.None() }

// Add multiplies each row of x by the matrices of the row's adapter, and adds the products to the results of the layers. The argument results is one
// tensor that has the results of all layers side by side, or one tensor for each layer. Add changes these tensors and returns the first. The elements
// of x have the type SetOptions.DType; those of the results have this type or float32.
func (b *Bank) Add(r Rows, x *tensor.Tensor, results ...*tensor.Tensor) *tensor.Tensor {
	if !b.Uses(r) {
		return results[0]
	}
	x = x.Contiguous()
	in := append([]*tensor.Tensor{x}, results...)
	done := tensor.Op{Name: "Adapters", In: in, DType: dtype.Float32, Shape: []int{0}, Launch: func(s *device.Stream, _ *tensor.Tensor) error {
		shape := b.shape
		if shape.Rows = x.Len() / shape.Columns; len(results) != 1 && len(results) != len(shape.Parts) {
			return fmt.Errorf("%w: results of %d layers of %d", tensor.ErrShape, len(results), len(shape.Parts))
		}
		h, err := device.MakeDirty[float32](s, shape.Rows*shape.Rank*len(shape.Parts))
		if err != nil {
			return err
		}
		defer h.Close()
		batch := batch{shape, r.groups, h.All()}
		if err := b.matrices.shrink(s, batch, x); err != nil {
			return err
		}
		for i, span := range spansOf(shape.Parts, len(results)) {
			if err := b.matrices.expand(s, batch, span, results[i]); err != nil {
				return err
			}
		}
		return nil
	}}.Apply()
	if done.Err() != nil {
		return done
	}
	return results[0]
}

// spansOf returns the results of all layers, or those of each layer.
func spansOf(parts []int, n int) []lora.Span {
	list, at := make([]lora.Span, n), 0
	for i, c := range parts {
		if n > 1 {
			list[i].From = at
		}
		at += c
		list[min(i, n-1)].To = at
	}
	return list
}

// batch is what kernels take beside matrices and rows.
type batch struct {
	lora.Shape
	groups device.Slice[lora.Group]
	h      device.Slice[float32] // the products with the first matrices
}

// matrices are the matrices of a Bank: A [adapters][layers][rank][columns], and B [adapters][results of all layers][rank], or with the
// matrices of each layer transposed.
type matrices interface {
	// putA uploads a matrix of a layer with a number of rows to A from element at on, and putB to B.
	putA(at int, values []float32, rows int) error
	putB(at int, values []float32, rows int) error
	shrink(s *device.Stream, b batch, x *tensor.Tensor) error
	// expand adds to some results of the layers.
	expand(s *device.Stream, b batch, of lora.Span, y *tensor.Tensor) error
}

// typed is matrices with elements of a type.
type typed[T float32 | dtype.BF16] struct {
	stream     *device.Stream
	a, b       device.Slice[T]
	transposed bool
	round      func(values []float32) []T
}

// allocate makes zeroed matrices. The error matches ErrOptions for layers that no kernel computes.
func (b *Bank) allocate() error {
	if b.shape.Columns%8 != 0 {
		return fmt.Errorf("%w: layers of a set have inputs of a multiple of 8 elements, not of %d", ErrOptions, b.shape.Columns)
	}
	var err error
	if b.set.DType == dtype.BFloat16 {
		b.matrices, err = newTyped(b, dtype.BF16sFrom32)
	} else {
		b.matrices, err = newTyped(b, func(values []float32) []float32 { return values })
	}
	return err
}

// newTyped returns zeroed matrices of a Bank.
func newTyped[T float32 | dtype.BF16](b *Bank, round func(values []float32) []T) (matrices, error) {
	m := typed[T]{stream: b.set.stream, round: round, transposed: lora.Transposed[T](b.set.stream.Device())}
	for to, n := range map[*device.Slice[T]]int{
		&m.a: b.shape.Adapters * len(b.shape.Parts) * b.shape.Rank * b.shape.Columns, &m.b: b.shape.Adapters * b.results() * b.shape.Rank,
	} {
		made, err := device.Make[T](b.set.stream, n)
		if err != nil {
			return nil, err
		}
		*to = made.All()
		b.set.close = append(b.set.close, made.Close)
		b.set.bytes += int64(n * b.set.DType.Size())
	}
	return m, nil
}

func (m typed[T]) putA(at int, values []float32, rows int) error {
	return m.put(m.a.Slice(at, at+len(values)), values, rows)
}

func (m typed[T]) putB(at int, values []float32, rows int) error {
	return m.put(m.b.Slice(at, at+len(values)), values, rows)
}

// put uploads a matrix of a number of rows.
func (m typed[T]) put(to device.Slice[T], values []float32, rows int) error {
	if m.transposed {
		values = transpose(values, rows)
	}
	return device.UploadTo(m.stream, to, m.round(values))
}

// transpose returns a matrix of a number of rows with its rows as columns.
func transpose(values []float32, rows int) []float32 {
	list, columns := make([]float32, len(values)), len(values)/rows
	for i, v := range values {
		list[i%columns*rows+i/columns] = v
	}
	return list
}

func (m typed[T]) shrink(s *device.Stream, b batch, x *tensor.Tensor) error {
	from, err := tensor.SliceOf[T](x)
	if err != nil {
		return err
	}
	return lora.Shrink(s, b.Shape, lora.Down[T]{X: from, A: m.a, Groups: b.groups, H: b.h})
}

func (m typed[T]) expand(s *device.Stream, b batch, of lora.Span, y *tensor.Tensor) error {
	if y.DType() == dtype.Float32 {
		return expand(s, b.Shape, y, lora.Up[T, float32]{H: b.h, B: m.b, Groups: b.groups, Columns: of})
	}
	return expand(s, b.Shape, y, lora.Up[T, dtype.BF16]{H: b.h, B: m.b, Groups: b.groups, Columns: of})
}

// expand adds to results of a type.
func expand[T, U float32 | dtype.BF16](s *device.Stream, shape lora.Shape, y *tensor.Tensor, x lora.Up[T, U]) (err error) {
	if x.Y, err = tensor.SliceOf[U](y); err != nil {
		return err
	}
	return lora.Expand(s, shape, x)
}
