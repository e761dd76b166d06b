package norm

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Shape is the size of a matrix whose rows are normalized.
type Shape struct{ Rows, Columns int }

// Operands are the operands of a norm: Y = norm(X) or, with a Residual, Sum = X + Residual and Y = norm(Sum), where Sum is rounded
// to its elements before it is normalized. Matrices have their rows one after another. Weight, and Bias if there is one, have a
// number for each column. Sum and Y may be X or Residual.
type Operands[T row.Number] struct {
	X, Y          device.Slice[T]
	Residual, Sum device.Slice[T] // zero for none
	Weight, Bias  device.Slice[float32]
}

// ErrShape is the error of operands that do not fit a shape.
var ErrShape = errors.New("norm: shape does not fit")

// check reports whether operands fit a shape.
func (x Operands[T]) check(shape Shape) error {
	n := shape.Rows * shape.Columns
	fits := func(length, want int, optional bool) bool { return length == want || optional && length == 0 }
	switch {
	case shape.Rows < 0 || shape.Columns < 0 || shape.Rows > math.MaxInt32 || shape.Columns > math.MaxInt32,
		!fits(x.X.Len(), n, false), !fits(x.Y.Len(), n, false), !fits(x.Residual.Len(), n, true), x.Sum.Len() != x.Residual.Len(),
		!fits(x.Weight.Len(), shape.Columns, false), !fits(x.Bias.Len(), shape.Columns, true):
		return fmt.Errorf("%w: a matrix of %d x %d; X has %d elements, Y %d, Residual %d, Sum %d, Weight %d, Bias %d", ErrShape,
			shape.Rows, shape.Columns, x.X.Len(), x.Y.Len(), x.Residual.Len(), x.Sum.Len(), x.Weight.Len(), x.Bias.Len())
	}
	return nil
}

// RMSNorm divides each row by the root of the mean of its squares plus epsilon, and multiplies by Weight (Zhang and Sennrich,
// "Root Mean Square Layer Normalization"). It adds in float32.
//
// A row with a NaN becomes NaN. If the sum of the squares overflows, finite elements become 0 and infinities NaN.
func RMSNorm[T row.Number](s *device.Stream, shape Shape, epsilon float32, x Operands[T]) error {
	return run(s, row.FormFor(s), function{shape, epsilon, false}, x)
}

// LayerNorm subtracts the mean of each row, divides by the root of the variance plus epsilon, multiplies by Weight, and adds Bias
// (Ba, Kiros and Hinton, "Layer Normalization"). It adds in float32, first the elements, then the squares of their differences to
// the mean. A row with a NaN or an infinity becomes NaN.
func LayerNorm[T row.Number](s *device.Stream, shape Shape, epsilon float32, x Operands[T]) error {
	return run(s, row.FormFor(s), function{shape, epsilon, true}, x)
}

// function is a norm of rows.
type function struct {
	Shape
	epsilon float32
	centred bool // LayerNorm
}

// config is what a kernel takes beside slices. Numbers have no sign, so that the compiler knows that indices are not negative.
type config struct {
	Rows, Columns uint32
	Inverse       float32 // 1/Columns
	Epsilon       float32
	Centred       bool
}

// run normalizes in a form. The Wide form needs aligned rows of whole 16 bytes; for others the Plain form runs.
func run[T row.Number](s *device.Stream, form row.Form, f function, x Operands[T]) error {
	if err := x.check(f.Shape); err != nil || f.Rows*f.Columns == 0 {
		return err
	}
	c := f.config()
	if x.Bias.Len() == 0 {
		x.Bias = device.None[float32]()
	}
	if form == row.Wide && row.Fits(f.Columns, x.X, x.Y, x.Residual, x.Sum) && row.Fits(f.Columns, x.Weight, x.Bias) {
		grid := row.Teams(f.Rows, f.Columns/row.Elements[T](), row.Limits{Shared: s.Device().Info().Limits.SharedDynamic})
		if grid.Blocks.X*grid.Block.X*grid.Block.Y <= math.MaxInt32 {
			return runWide(s, grid, c, x)
		}
	}
	return runPlain(s, c, x)
}

//gpu:instance plainAddBF16 = plainAddHalf[dtype.BF16, row.BF16]
//gpu:instance plainAddF16 = plainAddHalf[dtype.F16, row.F16]
//gpu:instance plainBF16 = plainHalf[dtype.BF16, row.BF16]
//gpu:instance plainF16 = plainHalf[dtype.F16, row.F16]

// runPlain launches the Plain form.
func runPlain[T row.Number](s *device.Stream, c config, x Operands[T]) error {
	if x.Sum.Len() > 0 {
		if err := add(s, x); err != nil {
			return err
		}
		x.X = x.Sum
	}
	grid := device.Blocks{X: int(c.Rows)}
	switch x := any(x).(type) {
	case Operands[float32]:
		return Plain(s, grid, x.X, x.Y, x.Weight, x.Bias, c)
	case Operands[dtype.BF16]:
		return plainBF16(s, grid, x.X, x.Y, x.Weight, x.Bias, c)
	case Operands[dtype.F16]:
		return plainF16(s, grid, x.X, x.Y, x.Weight, x.Bias, c)
	}
	panic("BUG: norm: no such element type")
}

// add stores X + Residual in Sum.
func add[T row.Number](s *device.Stream, x Operands[T]) error {
	grid := device.Cover(x.Sum.Len(), 256)
	switch x := any(x).(type) {
	case Operands[float32]:
		return PlainAdd(s, grid, x.X, x.Residual, x.Sum)
	case Operands[dtype.BF16]:
		return plainAddBF16(s, grid, x.X, x.Residual, x.Sum)
	case Operands[dtype.F16]:
		return plainAddF16(s, grid, x.X, x.Residual, x.Sum)
	}
	panic("BUG: norm: no such element type")
}

//gpu:instance wide32 = wide[[4]float32, row.F32]
//gpu:instance wideBF16 = wide[[8]float32, row.BF16]
//gpu:instance wideF16 = wide[[8]float32, row.F16]

// runWide launches the Wide form.
func runWide[T row.Number](s *device.Stream, grid device.Grid, c config, x Operands[T]) error {
	in, residual := device.None[T](), device.None[T]()
	if x.Sum.Len() > 0 {
		in, residual, x.X = x.X, x.Residual, x.Sum
	}
	v, four, eight := device.View[row.Words, T], device.View[[4]float32, float32], device.View[[8]float32, float32]
	switch any(x).(type) {
	case Operands[float32]:
		return wide32(s, grid, v(in), v(residual), v(x.X), v(x.Y), four(x.Weight), four(x.Bias), c)
	case Operands[dtype.BF16]:
		return wideBF16(s, grid, v(in), v(residual), v(x.X), v(x.Y), eight(x.Weight), eight(x.Bias), c)
	case Operands[dtype.F16]:
		return wideF16(s, grid, v(in), v(residual), v(x.X), v(x.Y), eight(x.Weight), eight(x.Bias), c)
	}
	panic("BUG: norm: no such element type")
}
