package rope

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Shape is the size of a matrix with a row for each token, which begins with Heads heads of Dim elements.
type Shape struct {
	Tokens, Heads, Dim int
	Rotary             int // elements of a head that are rotated, from the first on; 0 for all
	Stride             int // elements from a row to the next; 0 for Heads*Dim
}

// ErrShape is the error of operands that do not fit a shape.
var ErrShape = errors.New("rope: shape does not fit")

// full returns the shape with the numbers that 0 stands for.
func (s Shape) full() Shape {
	if s.Rotary == 0 {
		s.Rotary = s.Dim
	}
	if s.Stride == 0 {
		s.Stride = s.Heads * s.Dim
	}
	return s
}

// check reports whether n elements and the given number of angles fit a full shape.
func (s Shape) check(n, angles int) error {
	switch {
	case s.Tokens < 0 || s.Heads < 0 || s.Dim < 0, s.Rotary < 0 || s.Rotary > s.Dim || s.Rotary%2 != 0, s.Stride < s.Heads*s.Dim || s.Stride > math.MaxInt32,
		s.Tokens > 0 && n < (s.Tokens-1)*s.Stride+s.Heads*s.Dim, angles != s.Tokens*s.Rotary:
		return fmt.Errorf("%w: %+v; %d elements, %d angles", ErrShape, s, n, angles)
	}
	return nil
}

// Rotate rotates the pairs of all heads of x in place, by the angles that Angles has stored for Rotary/2 frequencies. NaNs and
// infinities spread to the other element of their pair, and no further.
func Rotate[T row.Number](s *device.Stream, shape Shape, x device.Slice[T], angles device.Slice[float32]) error {
	return launch[T]{row.FormFor(s), x, angles, 1}.run(s, shape)
}

// RotateBack rotates in the other direction: it turns the derivative of a loss with respect to the result of Rotate into the one with
// respect to its operand, in place. A rotation's transpose is its inverse.
func RotateBack[T row.Number](s *device.Stream, shape Shape, x device.Slice[T], angles device.Slice[float32]) error {
	return launch[T]{row.FormFor(s), x, angles, -1}.run(s, shape)
}

// launch is a rotation in a form. Sines are multiplied by sign.
type launch[T row.Number] struct {
	form   row.Form
	x      device.Slice[T]
	angles device.Slice[float32]
	sign   float32
}

// config is what a kernel takes beside slices. Numbers have no sign, so that the compiler knows that indices are not negative.
type config struct {
	Stride, Heads, Dim uint32
	Half               uint32  // number of pairs
	Sign               float32 // of the angles: 1 or -1
}

// run launches a kernel. The Wide form needs heads whose halves are whole 16 bytes, and aligned operands of fewer than 1<<31
// vectors; for others the Plain form runs.
func (l launch[T]) run(s *device.Stream, shape Shape) error {
	shape = shape.full()
	if err := shape.check(l.x.Len(), l.angles.Len()); err != nil || shape.Tokens*shape.Heads*shape.Rotary == 0 {
		return err
	}
	c := config{uint32(shape.Stride), uint32(shape.Heads), uint32(shape.Dim), uint32(shape.Rotary / 2), l.sign}
	n := row.Elements[T]()
	if l.form == row.Wide && row.Fits(shape.Rotary/2, l.x) && shape.Dim%n == 0 && shape.Stride%n == 0 &&
		l.angles.Aligned(row.VectorBytes) && max(l.angles.Len()/4, shape.Tokens*threads) <= math.MaxInt32 {
		return l.wide(s, shape.Tokens, c)
	}
	return l.plain(s, shape.Tokens, c)
}

//gpu:instance plain32 = plain[float32, row.F32]
//gpu:instance plainBF16 = plain[dtype.BF16, row.BF16]
//gpu:instance plainF16 = plain[dtype.F16, row.F16]

func (l launch[T]) plain(s *device.Stream, tokens int, c config) error {
	grid := device.Blocks{X: tokens * int(c.Heads)}
	switch x := any(l.x).(type) {
	case device.Slice[float32]:
		return plain32(s, grid, x, l.angles, c)
	case device.Slice[dtype.BF16]:
		return plainBF16(s, grid, x, l.angles, c)
	case device.Slice[dtype.F16]:
		return plainF16(s, grid, x, l.angles, c)
	}
	panic("BUG: rope: no such element type")
}

//gpu:instance wide32 = wide[[4]float32, row.F32]
//gpu:instance wideBF16 = wide[[8]float32, row.BF16]
//gpu:instance wideF16 = wide[[8]float32, row.F16]

func (l launch[T]) wide(s *device.Stream, tokens int, c config) error {
	grid, x, eight := device.Blocks{X: tokens}, device.View[row.Words](l.x), device.View[[8]float32, float32]
	switch any(l.x).(type) {
	case device.Slice[float32]:
		return wide32(s, grid, x, device.View[[4]float32](l.angles), c)
	case device.Slice[dtype.BF16]:
		return wideBF16(s, grid, x, eight(l.angles), c)
	case device.Slice[dtype.F16]:
		return wideF16(s, grid, x, eight(l.angles), c)
	}
	panic("BUG: rope: no such element type")
}
