package pooling

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Shape is the number of sequences, and the size of the matrix that has their rows one after another.
type Shape struct{ Sequences, Rows, Columns int }

// Method says what becomes of the rows of a sequence.
type Method int32

// The methods.
const (
	Mean  Method = iota // the mean of each column
	Max                 // the maximum of each column, NaN if one is NaN
	First               // the first row
)

// Operands are the operands of Reduce. Row i of Y is the result of sequence i, whose rows in X begin at Starts[i] and end before
// Starts[i+1]; Starts has one element more than there are sequences. Numbers outside the matrix stand for its ends, and sequences
// without rows have results of zeros.
type Operands[T row.Number] struct {
	X      device.Slice[T]
	Starts device.Slice[int32]
	Y      device.Slice[float32]
	Unit   bool // divide each result by its Euclidean norm, but at least by 1e-12
}

// ErrShape is the error of operands that do not fit a shape.
var ErrShape = errors.New("pooling: shape does not fit")

// check reports whether operands fit a shape.
func (x Operands[T]) check(s Shape, m Method) error {
	if s.Sequences < 0 || s.Rows < 0 || s.Columns < 0 || s.Rows > math.MaxInt32 || s.Columns > math.MaxInt32 || m < Mean || m > First ||
		x.X.Len() != s.Rows*s.Columns || x.Starts.Len() != s.Sequences+1 || x.Y.Len() != s.Sequences*s.Columns {
		return fmt.Errorf("%w: %+v, method %d; X has %d elements, Starts %d, Y %d", ErrShape, s, m, x.X.Len(), x.Starts.Len(), x.Y.Len())
	}
	return nil
}

// Reduce reduces each sequence to a row. It adds in float32.
func Reduce[T row.Number](s *device.Stream, shape Shape, m Method, x Operands[T]) error {
	return x.run(s, row.FormFor(s), shape, m)
}

//gpu:instance plain32 = plain[float32, row.F32]
//gpu:instance plainBF16 = plain[dtype.BF16, row.BF16]
//gpu:instance plainF16 = plain[dtype.F16, row.F16]
//gpu:instance wide32 = wide[float32, row.F32]
//gpu:instance wideBF16 = wide[dtype.BF16, row.BF16]
//gpu:instance wideF16 = wide[dtype.F16, row.F16]

// run reduces in a form.
func (x Operands[T]) run(s *device.Stream, form row.Form, shape Shape, m Method) error {
	if err := x.check(shape, m); err != nil || shape.Sequences*shape.Columns == 0 {
		return err
	}
	if shape.Rows == 0 {
		x.X = device.None[T]()
	}
	of32, ofBF16, ofF16 := plain32, plainBF16, plainF16
	if form == row.Wide {
		of32, ofBF16, ofF16 = wide32, wideBF16, wideF16
	}
	grid := device.Blocks{X: shape.Sequences}
	c := config{uint32(shape.Rows), uint32(shape.Columns), m, x.Unit}
	switch x := any(x).(type) {
	case Operands[float32]:
		return of32(s, grid, x.X, x.Starts, x.Y, c)
	case Operands[dtype.BF16]:
		return ofBF16(s, grid, x.X, x.Starts, x.Y, c)
	case Operands[dtype.F16]:
		return ofF16(s, grid, x.X, x.Starts, x.Y, c)
	}
	panic("BUG: pooling: no such element type")
}
