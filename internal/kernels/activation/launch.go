package activation

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// ErrShape is the error of operands that do not fit each other or a shape.
var ErrShape = errors.New("activation: shape does not fit")

const threads = 256 // of a block

// Apply stores f of each element of x in y, which may be x. Of NaN it is NaN.
func Apply[T row.Number](s *device.Stream, f Function, x, y device.Slice[T]) error {
	return operation[T]{row.FormFor(s), f, x, y}.run(s)
}

// operation is a function that is applied in a form. The Wide form is for whole vectors, aligned and fewer than 1<<31; for others the
// Plain form runs.
type operation[T row.Number] struct {
	form row.Form
	f    Function
	x, y device.Slice[T]
}

//gpu:instance apply32 = apply[row.F32x1]
//gpu:instance applyBF16 = apply[row.BF16x1]
//gpu:instance applyF16 = apply[row.F16x1]
//gpu:instance wide32 = wide[[4]float32, row.F32]
//gpu:instance wideBF16 = wide[[8]float32, row.BF16]
//gpu:instance wideF16 = wide[[8]float32, row.F16]

func (o operation[T]) run(s *device.Stream) error {
	n := o.y.Len()
	if o.x.Len() != n || o.f < SiLU || o.f > Tanh {
		return fmt.Errorf("%w: function %d of %d elements in %d", ErrShape, o.f, o.x.Len(), n)
	}
	if n == 0 {
		return nil
	}
	if o.form == row.Wide && o.f != Tanh && row.Fits(n, o.x, o.y) {
		return o.wide(s)
	}
	grid := device.Cover(n, threads)
	switch any(o.x).(type) {
	case device.Slice[float32]:
		return apply32(s, grid, device.View[row.F32x1](o.x), device.View[row.F32x1](o.y), o.f)
	case device.Slice[dtype.BF16]:
		return applyBF16(s, grid, device.View[row.BF16x1](o.x), device.View[row.BF16x1](o.y), o.f)
	}
	return applyF16(s, grid, device.View[row.F16x1](o.x), device.View[row.F16x1](o.y), o.f)
}

// wide launches the Wide form.
func (o operation[T]) wide(s *device.Stream) error {
	x, y := device.View[row.Words](o.x), device.View[row.Words](o.y)
	grid := device.Blocks{X: (y.Len() + threads - 1) / threads}
	switch any(o.x).(type) {
	case device.Slice[float32]:
		return wide32(s, grid, x, y, o.f)
	case device.Slice[dtype.BF16]:
		return wideBF16(s, grid, x, y, o.f)
	}
	return wideF16(s, grid, x, y, o.f)
}

// Shape is the size of the result of a gated function.
type Shape struct{ Rows, Columns int }

// Layout is where gates and the numbers that they are multiplied by are.
type Layout int

// The layouts.
const (
	Separate    Layout = iota // in Gate and Up
	Stacked                   // in Gate, whose rows have Columns gates, then Columns other numbers
	Interleaved               // in Gate, whose rows have Columns pairs of a gate and another number
)

// Operands are the operands of a gated function. Up is only for the layout Separate. With that layout, Y may be Gate or Up.
type Operands[T row.Number] struct{ Gate, Up, Y device.Slice[T] }

// check reports whether operands fit a shape.
func (x Operands[T]) check(shape Shape, layout Layout) error {
	n := shape.Rows * shape.Columns
	gates, ups := 2*n, 0
	if layout == Separate {
		gates, ups = n, n
	}
	if shape.Rows < 0 || shape.Columns < 0 || shape.Rows > math.MaxInt32 || 2*shape.Columns > math.MaxInt32 || layout < Separate || layout > Interleaved ||
		x.Gate.Len() != gates || x.Up.Len() != ups || x.Y.Len() != n {
		return fmt.Errorf("%w: a matrix of %d x %d, layout %d; Gate has %d elements, Up %d, Y %d", ErrShape, shape.Rows, shape.Columns, layout,
			x.Gate.Len(), x.Up.Len(), x.Y.Len())
	}
	return nil
}

// SwiGLU stores SiLU(gate) * up in each element of Y (Shazeer, "GLU Variants Improve Transformer").
func SwiGLU[T row.Number](s *device.Stream, shape Shape, layout Layout, x Operands[T]) error {
	return x.run(s, row.FormFor(s), shape, layout)
}

//gpu:instance gluPairs32 = gluPairs[float32, row.F32]
//gpu:instance gluPairsBF16 = gluPairs[dtype.BF16, row.BF16]
//gpu:instance gluPairsF16 = gluPairs[dtype.F16, row.F16]

// run launches a kernel in a form. The Wide form is for rows of whole vectors, aligned and fewer than 1<<31; for others
// the Plain form runs.
func (x Operands[T]) run(s *device.Stream, form row.Form, shape Shape, layout Layout) error {
	if err := x.check(shape, layout); err != nil || shape.Rows*shape.Columns == 0 {
		return err
	}
	if layout == Interleaved {
		return x.pairs(s)
	}
	g := gating[T]{x, uint32(shape.Rows), uint32(shape.Columns), uint32(shape.Columns)}
	if layout == Stacked {
		g.stride *= 2
		g.Up = x.Gate.Slice(shape.Columns, x.Gate.Len())
	}
	if n := row.Elements[T](); form == row.Wide && shape.Columns%n == 0 && x.Gate.Len()/n <= math.MaxInt32 &&
		x.Gate.Aligned(row.VectorBytes) && x.Up.Aligned(row.VectorBytes) && x.Y.Aligned(row.VectorBytes) {
		g.columns, g.stride = g.columns/uint32(n), g.stride/uint32(n)
		return g.wide(s)
	}
	return g.plain(s)
}

// pairs launches the kernel for pairs.
func (x Operands[T]) pairs(s *device.Stream) error {
	grid := device.Cover(x.Y.Len(), threads)
	switch x := any(x).(type) {
	case Operands[float32]:
		return gluPairs32(s, grid, device.View[[2]float32](x.Gate), x.Y)
	case Operands[dtype.BF16]:
		return gluPairsBF16(s, grid, device.View[[2]dtype.BF16](x.Gate), x.Y)
	case Operands[dtype.F16]:
		return gluPairsF16(s, grid, device.View[[2]dtype.F16](x.Gate), x.Y)
	}
	panic("BUG: activation: no such element type")
}

// gating is a gated function of rows of vectors, which are stride vectors from each other.
type gating[T row.Number] struct {
	Operands[T]
	rows, columns, stride uint32
}

// maxRows is the largest number of blocks along y.
const maxRows = 65535

// grid returns the grid of a thread for each column and a block for each row, up to the limit.
func (g gating[T]) grid() device.Blocks {
	return device.Blocks{X: (int(g.columns) + threads - 1) / threads, Y: min(int(g.rows), maxRows)}
}

//gpu:instance glu32 = glu[row.F32x1]
//gpu:instance gluBF16 = glu[row.BF16x1]
//gpu:instance gluF16 = glu[row.F16x1]

// plain launches the Plain form, as many rows at once as a grid may have.
func (g gating[T]) plain(s *device.Stream) error {
	for g.rows > maxRows {
		part, rest := g, g
		part.rows, rest.rows = maxRows, g.rows-maxRows
		at, to := maxRows*int(g.stride), maxRows*int(g.columns)
		rest.Gate, rest.Up, rest.Y = g.Gate.Slice(at, g.Gate.Len()), g.Up.Slice(at, g.Up.Len()), g.Y.Slice(to, g.Y.Len())
		if err := part.plain(s); err != nil {
			return err
		}
		g = rest
	}
	switch any(g.Gate).(type) {
	case device.Slice[float32]:
		v := device.View[row.F32x1, T]
		return glu32(s, g.grid(), v(g.Gate), v(g.Up), v(g.Y), g.columns, g.stride)
	case device.Slice[dtype.BF16]:
		v := device.View[row.BF16x1, T]
		return gluBF16(s, g.grid(), v(g.Gate), v(g.Up), v(g.Y), g.columns, g.stride)
	}
	v := device.View[row.F16x1, T]
	return gluF16(s, g.grid(), v(g.Gate), v(g.Up), v(g.Y), g.columns, g.stride)
}

//gpu:instance wideGLU32 = wideGLU[row.F32x4]
//gpu:instance wideGLUBF16 = wideGLU[row.BF16x8]
//gpu:instance wideGLUF16 = wideGLU[row.F16x8]

// wide launches the Wide form.
func (g gating[T]) wide(s *device.Stream) error {
	switch any(g.Gate).(type) {
	case device.Slice[float32]:
		v := device.View[row.F32x4, T]
		return wideGLU32(s, g.grid(), v(g.Gate), v(g.Up), v(g.Y), g.rows, g.columns, g.stride)
	case device.Slice[dtype.BF16]:
		v := device.View[row.BF16x8, T]
		return wideGLUBF16(s, g.grid(), v(g.Gate), v(g.Up), v(g.Y), g.rows, g.columns, g.stride)
	}
	v := device.View[row.F16x8, T]
	return wideGLUF16(s, g.grid(), v(g.Gate), v(g.Up), v(g.Y), g.rows, g.columns, g.stride)
}
