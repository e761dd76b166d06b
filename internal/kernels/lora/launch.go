package lora

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// ErrShape is the error of operands that do not fit a shape.
var ErrShape = errors.New("lora: shape does not fit")

// Shape is the size of rows and of adapters.
type Shape struct {
	Rows, Adapters int
	Columns        int   // of the input, a multiple of 8
	Rank           int   // a multiple of 8
	Parts          []int // the results of each linear layer: one to three
}

// out returns the number of results of all parts.
func (s Shape) out() (n int) {
	for _, p := range s.Parts {
		n += p
	}
	return n
}

// stack returns the number of columns of H.
func (s Shape) stack() int { return s.Rank * len(s.Parts) }

// check returns ErrShape if no kernel computes a shape.
func (s Shape) check() error {
	ok := s.Rows >= 0 && s.Adapters >= 0 && s.Columns > 0 && s.Columns%8 == 0 && s.Rank > 0 && s.Rank%8 == 0 && len(s.Parts) > 0 && len(s.Parts) <= 3
	for _, p := range s.Parts {
		ok = ok && p > 0
	}
	if !ok || max(s.Rows, s.Columns, s.out(), s.stack()) > math.MaxInt32/16 {
		return fmt.Errorf("%w: %+v", ErrShape, s)
	}
	return nil
}

// sizes returns the shape for shrinkWide, with lanes elements in a word.
func (s Shape) sizes(lanes int) sizes {
	return sizes{Rows: uint32(s.Rows), Adapters: uint32(s.Adapters), Columns: uint32(s.Columns / lanes), Stack: uint32(s.stack())}
}

// form is a way to compute both products.
type form int

const (
	scalar form = iota // on CPUs, for float32
	wide               // on GPUs
	tensor             // with the tensor cores, for BF16
)

// String returns the name of the form.
func (f form) String() string { return [...]string{"scalar", "wide", "tensor"}[f] }

// formOf returns the form for matrices of a type on a device. The one of CPUs is only for float32, the type of their activations.
func formOf[T float32 | dtype.BF16](d *device.Device) form {
	var zero T
	_, single := any(zero).(float32)
	switch info := d.Info(); {
	case single && row.FormOf(d) == row.Plain:
		return scalar
	case !single && (info.Kind == "interp" || info.Kind == "cuda" && info.Capability.Major >= 8):
		return tensor
	}
	return wide
}

// places returns the shape for a form of Expand, and the number of blocks for each group.
func (s Shape) places(f form, of Span) (c places, tiles int) {
	c = places{
		Rows: uint32(s.Rows), Adapters: uint32(s.Adapters), Stack: uint32(s.stack()), Rank: uint32(s.Rank), Out: uint32(s.out()), Width: uint32(of.To - of.From), Add: 1,
	}
	columns := [...]int{scalar: row.Lanes, wide: threads * columns, tensor: threads / 4 * tileColumns}[f] // of a block
	begin, used := 0, 0
	for i := range c.Segments {
		c.Segments[i].Tile = math.MaxUint32
		if i >= len(s.Parts) {
			continue
		}
		from, to, first := max(begin, of.From), min(begin+s.Parts[i], of.To), 0
		if first = from; f == scalar {
			first += begin * (s.Rank - 1)
		}
		begin += s.Parts[i]
		if from < to {
			c.Segments[used] = segment{
				Tile: uint32(tiles), First: uint32(first), To: uint32(from - of.From), Count: uint32(to - from), Stride: uint32(s.Parts[i]), Shift: uint32(i * s.Rank),
			}
			tiles += (to - from + columns - 1) / columns
			used++
		}
	}
	return c, tiles
}

// plainShrink returns the places of the kernel plain for Shrink, and the number of blocks for each group.
func (s Shape) plainShrink() (c places, tiles int) {
	first := Shape{Rows: s.Rows, Adapters: s.Adapters, Rank: s.Columns}
	for range s.Parts {
		first.Parts = append(first.Parts, s.Rank)
	}
	c, tiles = first.places(scalar, Span{0, s.stack()})
	c.Stack, c.Add = uint32(s.Columns), 0
	for i := range c.Segments {
		c.Segments[i].Shift = 0 // all parts have the same rows
	}
	return c, tiles
}

// Transposed reports whether the matrices of each part are transposed on a device: A is [Adapters][parts][Columns][Rank], and B has
// [Rank][results of the part] for each part of each adapter.
func Transposed[T float32 | dtype.BF16](d *device.Device) bool {
	return formOf[T](d) == scalar
}

// Down are the operands of Shrink: X is [Rows][Columns], A [Adapters][parts][Rank][Columns] unless Transposed, and H [Rows][parts][Rank].
// Rows of H whose row is in no group keep their values.
type Down[T float32 | dtype.BF16] struct {
	X, A   device.Slice[T]
	Groups device.Slice[Group]
	H      device.Slice[float32]
}

// Shrink multiplies rows by the first matrices of their adapters. X and A begin at multiples of 16 bytes.
func Shrink[T float32 | dtype.BF16](s *device.Stream, shape Shape, x Down[T]) error {
	return shrink(s, formOf[T](s.Device()), shape, x)
}

//gpu:instance shrinkWide32 = shrinkWide[[4]float32, row.F32]
//gpu:instance shrinkWideBF16 = shrinkWide[[8]float32, row.BF16]

// shrink is Shrink in a form that there is for T.
func shrink[T float32 | dtype.BF16](s *device.Stream, f form, shape Shape, x Down[T]) error {
	if err := shape.check(); err != nil {
		return err
	}
	if n := shape.stack(); x.X.Len() != shape.Rows*shape.Columns || x.A.Len() != shape.Adapters*n*shape.Columns || x.H.Len() != shape.Rows*n {
		return fmt.Errorf("%w: %+v; X has %d elements, A %d, H %d", ErrShape, shape, x.X.Len(), x.A.Len(), x.H.Len())
	}
	if !x.X.Aligned(row.VectorBytes) || !x.A.Aligned(row.VectorBytes) {
		return fmt.Errorf("%w: X or A does not begin at a multiple of %d bytes", ErrShape, row.VectorBytes)
	}
	if shape.Rows*shape.Adapters*x.Groups.Len() == 0 {
		return nil
	}
	grid := device.Blocks{X: x.Groups.Len(), Y: shape.stack() / strip}
	switch x := any(x).(type) {
	case Down[float32]:
		if f == scalar {
			c, tiles := shape.plainShrink()
			return Plain(s, device.Blocks{X: grid.X, Y: tiles}, x.X, x.A, x.Groups, x.H, c)
		}
		return shrinkWide32(s, grid, device.View[row.Words](x.X), device.View[row.Words](x.A), x.Groups, x.H, shape.sizes(4))
	case Down[dtype.BF16]:
		a, b := device.View[row.Words](x.X), device.View[row.Words](x.A)
		if f == tensor {
			return ShrinkTensor(s, device.Blocks{X: grid.X, Y: (shape.stack() + matrixRows - 1) / matrixRows}, a, b, x.Groups, x.H, shape.sizes(8))
		}
		return shrinkWideBF16(s, grid, a, b, x.Groups, x.H, shape.sizes(8))
	}
	panic("BUG: lora: no such element type")
}

// Span is some of the results of all parts: those from From on and before To.
type Span struct{ From, To int }

// Up are the operands of Expand: H is that of Shrink, B [Adapters][results of all parts][Rank] unless Transposed, and Y
// [Rows][results of Columns].
type Up[T, U float32 | dtype.BF16] struct {
	H       device.Slice[float32]
	B       device.Slice[T]
	Groups  device.Slice[Group]
	Y       device.Slice[U]
	Columns Span
}

// Expand multiplies the rows of H by the second matrices of their adapters, and adds the products to the rows of Y. Rows that are in no
// group keep their values. H and B begin at multiples of 16 bytes.
func Expand[T, U float32 | dtype.BF16](s *device.Stream, shape Shape, x Up[T, U]) error {
	return expand(s, formOf[T](s.Device()), shape, x)
}

//gpu:instance expandWide32 = expandWide[[4]float32, row.F32, float32, row.F32]
//gpu:instance expandWideBF16 = expandWide[[8]float32, row.BF16, dtype.BF16, row.BF16]
//gpu:instance expandWideSum = expandWide[[8]float32, row.BF16, float32, row.F32]
//gpu:instance expandTensorBF16 = expandTensor[[8]float32, row.BF16]
//gpu:instance expandTensorSum = expandTensor[[4]float32, row.F32]

// expand is Expand in a form that there is for T, or with kernels that any number of columns suits.
func expand[T, U float32 | dtype.BF16](s *device.Stream, f form, shape Shape, x Up[T, U]) error {
	if err := shape.check(); err != nil {
		return err
	}
	if err := x.check(shape); err != nil {
		return err
	}
	if shape.Rows*shape.Adapters*x.Groups.Len() == 0 {
		return nil
	}
	if f == tensor && !x.inEights(shape) {
		f = wide
	}
	c, tiles := shape.places(f, x.Columns)
	grid := device.Blocks{X: x.Groups.Len(), Y: tiles}
	switch x := any(x).(type) {
	case Up[float32, float32]:
		if f == scalar {
			return Plain(s, grid, x.H, x.B, x.Groups, x.Y, c)
		}
		return expandWide32(s, grid, device.View[[4]float32](x.H), device.View[row.Words](x.B), x.Groups, x.Y, c)
	case Up[dtype.BF16, dtype.BF16]:
		if f == tensor {
			return expandTensorBF16(s, grid, device.View[[4]float32](x.H), device.View[[2]uint32](x.B), x.Groups, device.View[row.Words](x.Y), c)
		}
		return expandWideBF16(s, grid, device.View[[4]float32](x.H), device.View[row.Words](x.B), x.Groups, x.Y, c)
	case Up[dtype.BF16, float32]:
		if f == tensor {
			return expandTensorSum(s, grid, device.View[[4]float32](x.H), device.View[[2]uint32](x.B), x.Groups, device.View[row.Words](x.Y), c)
		}
		return expandWideSum(s, grid, device.View[[4]float32](x.H), device.View[row.Words](x.B), x.Groups, x.Y, c)
	}
	return fmt.Errorf("%w: results of another type than float32 for float32 matrices", ErrShape)
}

// inEights reports whether expandTensor can add to Y.
func (x Up[T, U]) inEights(shape Shape) bool {
	for _, n := range shape.Parts {
		if n%tileColumns != 0 {
			return false
		}
	}
	return x.Columns.From%tileColumns == 0 && x.Columns.To%tileColumns == 0 && x.Y.Aligned(row.VectorBytes)
}

// check returns ErrShape if the operands do not fit a shape.
func (x Up[T, U]) check(shape Shape) error {
	n := x.Columns.To - x.Columns.From
	if x.Columns.From < 0 || n < 1 || x.Columns.To > shape.out() || x.H.Len() != shape.Rows*shape.stack() || x.B.Len() != shape.Adapters*shape.out()*shape.Rank || x.Y.Len() != shape.Rows*n {
		return fmt.Errorf("%w: %+v; H has %d elements, B %d, Y %d for %+v", ErrShape, shape, x.H.Len(), x.B.Len(), x.Y.Len(), x.Columns)
	}
	if !x.H.Aligned(row.VectorBytes) || !x.B.Aligned(row.VectorBytes) {
		return fmt.Errorf("%w: H or B does not begin at a multiple of %d bytes", ErrShape, row.VectorBytes)
	}
	return nil
}
