package loss

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Shape is the size of a matrix of scores, whose rows are one after another.
type Shape struct{ Rows, Columns int }

// Element is the type of scores.
type Element interface {
	row.Number
	float32 | dtype.BF16
}

// Operands are the operands of CrossEntropy.
type Operands[T Element] struct {
	X      device.Slice[T]       // the scores
	Labels device.Slice[int32]   // a column for each row
	Losses device.Slice[float32] // becomes the loss of each row
	DX     device.Slice[T]       // becomes the derivative of the sum of the losses times Scale; may be X
	Scale  float32
}

// ErrShape is the error of operands that do not fit a shape.
var ErrShape = errors.New("loss: shape does not fit")

// check reports whether operands fit a shape.
func (x Operands[T]) check(s Shape) error {
	n := s.Rows * s.Columns
	if s.Rows < 0 || s.Columns < 0 || s.Rows > math.MaxInt32 || s.Columns > math.MaxInt32 || x.X.Len() != n || x.DX.Len() != n || x.Labels.Len() != s.Rows || x.Losses.Len() != s.Rows {
		return fmt.Errorf("%w: a matrix of %d x %d; X has %d elements, Labels %d, Losses %d, DX %d", ErrShape, s.Rows, s.Columns, x.X.Len(), x.Labels.Len(), x.Losses.Len(), x.DX.Len())
	}
	return nil
}

// CrossEntropy stores -log(p) for each row, where p is the softmax of the row at its label, and the derivative. Both are 0 for a row whose
// label is not a column, such as -1. They are NaN for a row with a label and a NaN or a positive infinity, or with only negative infinities.
//
// On GPUs, it is slow unless all operands begin at multiples of 16 bytes: parts of rows should begin at a multiple of four.
func CrossEntropy[T Element](s *device.Stream, shape Shape, x Operands[T]) error {
	return x.run(s, row.FormFor(s), shape)
}

//gpu:instance wide32 = wide[[4]float32, row.F32]
//gpu:instance wideBF16 = wide[[8]float32, row.BF16]

// run launches a kernel in a form. The Wide form needs aligned operands and rows of whole 16 bytes; for others the Plain form runs.
func (x Operands[T]) run(s *device.Stream, form row.Form, shape Shape) error {
	if err := x.check(shape); err != nil || shape.Rows == 0 {
		return err
	}
	if shape.Columns == 0 {
		return device.Fill(s, x.Losses, 0)
	}
	grid := device.Blocks{X: shape.Rows}
	aligned := x.Labels.Aligned(row.VectorBytes) && x.Losses.Aligned(row.VectorBytes)
	if form == row.Wide && aligned && row.Fits(shape.Columns, x.X, x.DX) && shape.Rows <= math.MaxInt32/threads {
		v, columns := device.View[row.Words, T], uint32(shape.Columns/row.Elements[T]())
		switch any(x).(type) {
		case Operands[float32]:
			return wide32(s, grid, v(x.X), v(x.DX), x.Labels, x.Losses, columns, x.Scale)
		case Operands[dtype.BF16]:
			return wideBF16(s, grid, v(x.X), v(x.DX), x.Labels, x.Losses, columns, x.Scale)
		}
	}
	switch x := any(x).(type) {
	case Operands[float32]:
		return Plain(s, grid, x.X, x.DX, x.Labels, x.Losses, uint32(shape.Columns), x.Scale)
	case Operands[dtype.BF16]:
		return PlainHalf(s, grid, x.X, x.DX, x.Labels, x.Losses, uint32(shape.Columns), x.Scale)
	}
	panic("BUG: loss: no such element type")
}
