package embedding

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Shape is the size of a table of Vocabulary rows of Columns elements, and the number of tokens.
type Shape struct{ Tokens, Vocabulary, Columns int }

// Operands are the operands of a copy: row i of Out is row Indices[i] of Table. If Bad is not zero, it has one element, to which the
// number of indices outside the table is added.
type Operands[T, U row.Number] struct {
	Table   device.Slice[T]
	Indices device.Slice[int32]
	Out     device.Slice[U]
	Bad     device.Slice[uint32]
}

// ErrShape is the error of operands that do not fit a shape.
var ErrShape = errors.New("embedding: shape does not fit")

// check reports whether operands fit a shape.
func (x Operands[T, U]) check(s Shape) error {
	if s.Tokens < 0 || s.Vocabulary < 0 || s.Columns < 0 || s.Vocabulary > 1<<31-1 || s.Columns > 1<<31-1 || x.Bad.Len() > 1 ||
		x.Table.Len() != s.Vocabulary*s.Columns || x.Indices.Len() != s.Tokens || x.Out.Len() != s.Tokens*s.Columns {
		return fmt.Errorf("%w: %+v; Table has %d elements, Indices %d, Out %d, Bad %d", ErrShape, s, x.Table.Len(), x.Indices.Len(), x.Out.Len(), x.Bad.Len())
	}
	return nil
}

// Gather copies rows of a table. An index outside the table gives a row of zeros.
func Gather[T row.Number](s *device.Stream, shape Shape, x Operands[T, T]) error {
	return run(s, row.FormFor(s), shape, x)
}

// Widen copies rows of a table of half-precision numbers to rows of float32 numbers. An index outside the table gives a row of
// zeros.
func Widen[T dtype.BF16 | dtype.F16](s *device.Stream, shape Shape, x Operands[T, float32]) error {
	return run(s, row.FormFor(s), shape, x)
}

// run copies in a form. The Wide form needs rows of whole 16 bytes that stay as they are, or of whole fours of bfloat16 numbers that
// are widened; for others the Plain form runs.
func run[T, U row.Number](s *device.Stream, form row.Form, shape Shape, x Operands[T, U]) error {
	if err := x.check(shape); err != nil || shape.Tokens*shape.Columns == 0 {
		return err
	}
	if x.Bad.Len() == 0 {
		x.Bad = device.None[uint32]()
	}
	if shape.Vocabulary == 0 {
		x.Table = device.None[T]()
	}
	_, same := any(x.Out).(device.Slice[T])
	if n := row.Elements[T](); form == row.Wide && same && shape.Columns%n == 0 {
		return x.wide(s, uint32(shape.Vocabulary), uint32(shape.Columns/n))
	}
	if b, ok := any(x).(Operands[dtype.BF16, float32]); ok && form == row.Wide && shape.Columns%4 == 0 {
		table, out := device.View[[4]dtype.BF16](b.Table), device.View[[4]float32](b.Out)
		return WideBF16(s, device.Blocks{X: b.Indices.Len()}, table, b.Indices, out, b.Bad, uint32(shape.Vocabulary), uint32(shape.Columns/4))
	}
	return x.plain(s, uint32(shape.Vocabulary), uint32(shape.Columns))
}

//gpu:instance plain32 = plain[uint32, uint32, same[uint32]]
//gpu:instance plain16 = plain[uint16, uint16, same[uint16]]
//gpu:instance plainBF16 = plain[dtype.BF16, float32, widened[dtype.BF16, row.BF16]]
//gpu:instance plainF16 = plain[dtype.F16, float32, widened[dtype.F16, row.F16]]

// plain launches the Plain form.
func (x Operands[T, U]) plain(s *device.Stream, rows, columns uint32) error {
	grid := device.Blocks{X: x.Indices.Len()}
	switch x := any(x).(type) {
	case Operands[dtype.BF16, float32]:
		return plainBF16(s, grid, x.Table, x.Indices, x.Out, x.Bad, rows, columns)
	case Operands[dtype.F16, float32]:
		return plainF16(s, grid, x.Table, x.Indices, x.Out, x.Bad, rows, columns)
	case Operands[float32, float32]:
		return plain32(s, grid, device.View[uint32](x.Table), x.Indices, device.View[uint32](x.Out), x.Bad, rows, columns)
	}
	return plain16(s, grid, device.View[uint16](x.Table), x.Indices, device.View[uint16](x.Out), x.Bad, rows, columns)
}

// wide launches the Wide form for columns of 16 bytes.
func (x Operands[T, U]) wide(s *device.Stream, rows, columns uint32) error {
	return Wide(s, device.Blocks{X: x.Indices.Len()}, device.View[[4]uint32](x.Table), x.Indices, device.View[[4]uint32](x.Out), x.Bad, rows, columns)
}
