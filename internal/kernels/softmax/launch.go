package softmax

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Shape is the size of a matrix whose rows are one after another.
type Shape struct{ Rows, Columns int }

// Options choose the function.
type Options struct {
	Scale   float32 // by which elements are multiplied before; 0 for 1
	Log     bool    // the logarithm of the softmax
	Queries int     // causal, if not 0: row i of each Queries rows has the first Columns - Queries + i + 1 columns
}

// Operands are the operands: Y = softmax(X). They may be the same memory. Lengths, if it is not zero, has the number of columns of
// each row; fewer than 0 are 0, and more than Columns are Columns.
type Operands[T row.Number] struct {
	X, Y    device.Slice[T]
	Lengths device.Slice[int32]
}

// ErrShape is the error of operands that do not fit a shape.
var ErrShape = errors.New("softmax: shape does not fit")

// check reports whether operands fit a shape.
func (x Operands[T]) check(s Shape, queries int) error {
	n := s.Rows * s.Columns
	if s.Rows < 0 || s.Columns < 0 || s.Rows > math.MaxInt32 || s.Columns > math.MaxInt32 || queries < 0 || queries > math.MaxInt32 ||
		x.X.Len() != n || x.Y.Len() != n || x.Lengths.Len() != 0 && x.Lengths.Len() != s.Rows {
		return fmt.Errorf("%w: a matrix of %d x %d, %d queries; X has %d elements, Y %d, Lengths %d", ErrShape, s.Rows, s.Columns, queries,
			x.X.Len(), x.Y.Len(), x.Lengths.Len())
	}
	return nil
}

// Rows stores the softmax of each row. Columns that a row does not have, and all columns of a row that has none or only negative
// infinities, become 0, the logarithm negative infinity. A row with a NaN or a positive infinity becomes NaN where it is not
// masked.
func Rows[T row.Number](s *device.Stream, shape Shape, o Options, x Operands[T]) error {
	return x.run(s, row.FormFor(s), shape, o)
}

// config is what a kernel takes beside slices. Numbers have no sign, so that the compiler knows that indices are not negative.
type config struct {
	Rows             uint32
	Columns, Queries uint32
	Scale            float32
	Log              bool
}

// run launches a kernel. The Wide form needs aligned rows of whole 16 bytes; for others the Plain form runs.
func (x Operands[T]) run(s *device.Stream, form row.Form, shape Shape, o Options) error {
	if err := x.check(shape, o.Queries); err != nil || shape.Rows*shape.Columns == 0 {
		return err
	}
	if x.Lengths.Len() == 0 {
		x.Lengths = device.None[int32]()
	}
	if o.Scale == 0 {
		o.Scale = 1
	}
	c := config{Rows: uint32(shape.Rows), Columns: uint32(shape.Columns), Queries: uint32(o.Queries), Scale: o.Scale, Log: o.Log}
	if form == row.Wide && row.Fits(shape.Columns, x.X, x.Y) {
		return x.wide(s, c)
	}
	return x.plain(s, c)
}

//gpu:instance plain32 = plain[float32, row.F32]
//gpu:instance plainBF16 = plain[dtype.BF16, row.BF16]
//gpu:instance plainF16 = plain[dtype.F16, row.F16]

// plain launches the Plain form.
func (x Operands[T]) plain(s *device.Stream, c config) error {
	grid := device.Blocks{X: int(c.Rows)}
	switch x := any(x).(type) {
	case Operands[float32]:
		return plain32(s, grid, x.X, x.Y, x.Lengths, c)
	case Operands[dtype.BF16]:
		return plainBF16(s, grid, x.X, x.Y, x.Lengths, c)
	case Operands[dtype.F16]:
		return plainF16(s, grid, x.X, x.Y, x.Lengths, c)
	}
	panic("BUG: softmax: no such element type")
}

//gpu:instance wide32 = wide[[4]float32, row.F32]
//gpu:instance wideBF16 = wide[[8]float32, row.BF16]
//gpu:instance wideF16 = wide[[8]float32, row.F16]
//gpu:instance short32 = short[[4]float32, row.F32]
//gpu:instance shortBF16 = short[[8]float32, row.BF16]
//gpu:instance shortF16 = short[[8]float32, row.F16]
//gpu:instance spread32 = spread[[4]float32, row.F32]
//gpu:instance spreadBF16 = spread[[8]float32, row.BF16]
//gpu:instance spreadF16 = spread[[8]float32, row.F16]

// wide launches the Wide form.
func (x Operands[T]) wide(s *device.Stream, c config) error {
	l := s.Device().Info().Limits
	n := int(c.Columns) / row.Elements[T]()
	grid := row.Teams(int(c.Rows), n, row.Limits{Shared: l.SharedDynamic, Clusters: l.ClusterBlocks})
	of32, ofBF16, ofF16 := wide32, wideBF16, wideF16
	switch {
	case grid.Cluster.X > 1:
		of32, ofBF16, ofF16 = spread32, spreadBF16, spreadF16
	case n <= shortWords:
		of32, ofBF16, ofF16 = short32, shortBF16, shortF16
		grid = shortGrid(int(c.Rows), n)
	}
	in, out := device.View[row.Words](x.X), device.View[row.Words](x.Y)
	switch any(x).(type) {
	case Operands[float32]:
		return of32(s, grid, in, out, x.Lengths, c)
	case Operands[dtype.BF16]:
		return ofBF16(s, grid, in, out, x.Lengths, c)
	case Operands[dtype.F16]:
		return ofF16(s, grid, in, out, x.Lengths, c)
	}
	panic("BUG: softmax: no such element type")
}
