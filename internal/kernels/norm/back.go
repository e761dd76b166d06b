package norm

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Element is the type of elements in training.
type Element interface {
	row.Number
	float32 | dtype.BF16
}

// Gradients are the operands of a norm's derivative. Matrices have the shape of the norm, their rows one after another.
type Gradients[T Element] struct {
	X  device.Slice[T] // what was normalized: X of Operands or, if there was a Residual, Sum
	DY device.Slice[T] // the derivative of the loss with respect to Y
	// DYHalf is DY of a norm whose results are bfloat16 and whose rows are float32; then DY is empty. It is for GPUs: see FitsNarrow.
	DYHalf device.Slice[dtype.BF16]
	DX     device.Slice[T] // becomes the derivative with respect to X; may be Add

	// Add is added to DX: the derivative with respect to X by another way, such as the residual stream. It is optional.
	Add    device.Slice[T]
	Weight device.Slice[float32]

	// DWeight and DBias become the derivatives with respect to Weight and Bias. They are optional; RMSNormBack takes no DBias.
	DWeight, DBias device.Slice[float32]

	// Workspace, which is overwritten, has at least Workspace(shape) elements, or none if there is neither DWeight nor DBias.
	Workspace device.Slice[float32]
}

const (
	chunkRows  = 32  // rows of a partial sum of DWeight, if that gives at most mostChunks
	mostChunks = 128 // partial sums of DWeight
)

// chunks returns the number of partial sums of DWeight, and the rows of each.
func (s Shape) chunks() (n, rows int) {
	rows = max(chunkRows, (s.Rows+mostChunks-1)/mostChunks)
	return (s.Rows + rows - 1) / rows, rows
}

// Workspace returns the number of elements of scratch memory that derivatives with respect to weights and biases need.
func Workspace(s Shape) int {
	if s.Rows <= 0 || s.Columns <= 0 {
		return 0
	}
	n, _ := s.chunks()
	return 2*s.Rows + 2*n*s.Columns
}

// check reports whether operands fit a norm.
func (x Gradients[T]) check(f function) error {
	n := f.Rows * f.Columns
	fits := func(length, want int, optional bool) bool { return length == want || optional && length == 0 }
	work := x.DWeight.Len()+x.DBias.Len() > 0
	switch {
	case f.Rows < 0 || f.Columns < 0 || f.Rows > math.MaxInt32 || f.Columns > math.MaxInt32,
		!fits(x.X.Len(), n, false), !fits(x.DY.Len()+x.DYHalf.Len(), n, false), x.DYHalf.Len() > 0 && !x.fitsNarrow(f.Shape), !fits(x.DX.Len(), n, false), !fits(x.Add.Len(), n, true),
		!fits(x.Weight.Len(), f.Columns, false), !fits(x.DWeight.Len(), f.Columns, true), !fits(x.DBias.Len(), f.Columns, true),
		!f.centred && x.DBias.Len() > 0, work && x.Workspace.Len() < Workspace(f.Shape):
		return fmt.Errorf("%w: a matrix of %d x %d; X has %d elements, DY %d, DX %d, Add %d, Weight %d, DWeight %d, DBias %d, Workspace %d", ErrShape,
			f.Rows, f.Columns, x.X.Len(), x.DY.Len()+x.DYHalf.Len(), x.DX.Len(), x.Add.Len(), x.Weight.Len(), x.DWeight.Len(), x.DBias.Len(), x.Workspace.Len())
	}
	return nil
}

// RMSNormBack computes the derivatives of RMSNorm. Sums are in float32, in an order that depends only on the shape and the form. A row with a
// NaN makes its row of DX NaN, and all elements of DWeight whose columns it reaches.
func RMSNormBack[T Element](s *device.Stream, shape Shape, epsilon float32, x Gradients[T]) error {
	return runBack(s, row.FormFor(s), function{shape, epsilon, false}, x)
}

// LayerNormBack computes the derivatives of LayerNorm, as RMSNormBack does those of RMSNorm.
func LayerNormBack[T Element](s *device.Stream, shape Shape, epsilon float32, x Gradients[T]) error {
	return runBack(s, row.FormFor(s), function{shape, epsilon, true}, x)
}

// runBack computes derivatives in a form: those with respect to rows, then partial sums of those with respect to weights, then their sums.
func runBack[T Element](s *device.Stream, form row.Form, f function, x Gradients[T]) error {
	if err := x.check(f); err != nil {
		return err
	}
	if f.Rows*f.Columns == 0 {
		return x.clear(s)
	}
	c := f.config()
	if x.DWeight.Len()+x.DBias.Len() == 0 {
		return x.rows(s, form, c, device.None[[2]float32]())
	}
	lines := device.View[[2]float32](x.Workspace.Slice(0, 2*f.Rows))
	if err := x.rows(s, form, c, lines); err != nil {
		return err
	}
	return x.columns(s, f, lines, x.Workspace.Slice(2*f.Rows, Workspace(f.Shape)))
}

// clear stores the derivatives of a norm of no elements with respect to weights.
func (x Gradients[T]) clear(s *device.Stream) error {
	for _, to := range []device.Slice[float32]{x.DWeight, x.DBias} {
		if to.Len() > 0 {
			if err := device.Fill(s, to, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

//gpu:instance wideBack32 = wideBack[[4]float32, row.F32, row.Words, row.F32]
//gpu:instance wideBackBF16 = wideBack[[8]float32, row.BF16, row.Words, row.BF16]

// rows computes DX, and stores the factor and the mean of each row in lines if there are some. The Wide form needs aligned rows of whole
// 16 bytes; for others the Plain form runs.
func (x Gradients[T]) rows(s *device.Stream, form row.Form, c config, lines device.Slice[[2]float32]) error {
	if x.DYHalf.Len() > 0 {
		return x.narrowRows(s, c, lines)
	}
	rows, columns := int(c.Rows), int(c.Columns)
	wide := form == row.Wide && row.Fits(columns, x.X, x.DY, x.DX, x.Add) && row.Fits(columns, x.Weight) && lines.Aligned(row.VectorBytes)
	grid := row.Teams(rows, columns/row.Elements[T](), row.Limits{Shared: s.Device().Info().Limits.SharedDynamic})
	if wide = wide && grid.Blocks.X*grid.Block.X*grid.Block.Y <= math.MaxInt32; wide {
		v := device.View[row.Words, T]
		if x.Add.Len() == 0 {
			x.Add = device.None[T]()
		}
		switch any(x).(type) {
		case Gradients[float32]:
			return wideBack32(s, grid, v(x.X), v(x.DY), v(x.Add), v(x.DX), device.View[[4]float32](x.Weight), lines, c)
		case Gradients[dtype.BF16]:
			return wideBackBF16(s, grid, v(x.X), v(x.DY), v(x.Add), v(x.DX), device.View[[8]float32](x.Weight), lines, c)
		}
	}
	if x.Add.Len() == 0 {
		if err := device.Fill(s, x.DX, *new(T)); err != nil {
			return err
		}
		x.Add = x.DX
	}
	switch x := any(x).(type) {
	case Gradients[float32]:
		return PlainBack(s, device.Blocks{X: rows}, x.X, x.DY, x.Add, x.DX, x.Weight, lines, c)
	case Gradients[dtype.BF16]:
		return HalfBack(s, device.Blocks{X: rows}, x.X, x.DY, x.Add, x.DX, x.Weight, lines, c)
	}
	panic("BUG: norm: no such element type")
}

// columns computes DWeight and DBias, given the factors and means of rows and memory for partial sums.
func (x Gradients[T]) columns(s *device.Stream, f function, lines device.Slice[[2]float32], parts device.Slice[float32]) error {
	_, rows := f.chunks()
	var err error
	switch x := any(x).(type) {
	case Gradients[float32]:
		if x.DYHalf.Len() > 0 {
			err = SumMixed(s, f.columnBlocks(), x.X, x.DYHalf, lines, parts, uint32(rows), uint32(f.Columns))
			break
		}
		err = SumRows(s, f.columnBlocks(), x.X, x.DY, lines, parts, uint32(rows), uint32(f.Columns))
	case Gradients[dtype.BF16]:
		if row.FormFor(s) == row.Wide && row.Fits(f.Columns, x.X, x.DY) && row.Fits(f.Columns, parts) {
			err = sumAligned(s, f.Shape, x, parts)
			break
		}
		err = SumHalves(s, f.columnBlocks(), x.X, x.DY, lines, parts, uint32(rows), uint32(f.Columns))
	}
	if err != nil {
		return err
	}
	return x.sums(s, f, parts)
}

// columnBlocks returns the grid of a thread for each column of each chunk of rows.
func (s Shape) columnBlocks() device.Blocks {
	n, _ := s.chunks()
	return device.Blocks{X: (s.Columns + columnThreads - 1) / columnThreads, Y: n}
}

// sums computes DWeight and DBias, given partial sums.
func (x Gradients[T]) sums(s *device.Stream, f function, parts device.Slice[float32]) error {
	n, _ := f.chunks()
	for i, to := range []device.Slice[float32]{x.DWeight, x.DBias} {
		if to.Len() == 0 {
			continue
		}
		if err := SumParts(s, device.Blocks{X: (f.Columns + sumColumns - 1) / sumColumns}, parts.Slice(i*n*f.Columns, (i+1)*n*f.Columns), to); err != nil {
			return err
		}
	}
	return nil
}
