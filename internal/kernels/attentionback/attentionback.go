package attentionback

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// ErrShape is the error of operands that do not fit a shape, and of shapes that do not exist.
var ErrShape = errors.New("attentionback: shape does not fit")

// Element is the type of elements.
type Element interface {
	row.Number
	float32 | dtype.BF16
}

// Operands are the operands of Backward. Q, O and their derivatives are [rows][Heads][Dim]; K, V and their derivatives [rows][KeyHeads][Dim]. With
// Shape.Apart, the rows of all but O and its derivative are so many elements apart: see Apart.
type Operands[T Element] struct {
	Q, K, V, O device.Slice[T]             // of prefill.Attend
	States     device.Slice[prefill.State] // of prefill.Attend: [rows][Heads]
	// Spans are those of prefill.Attend. Each is a sequence: First is 0, and Keys is Row.
	Spans device.Slice[prefill.Span]
	DO    device.Slice[T] // the derivative of the loss with respect to O
	// DQ, DK and DV become the derivatives with respect to Q, K and V. They become 0 in rows of no span.
	DQ, DK, DV device.Slice[T]
	// Workspace, which is overwritten, has at least as many elements as the function Workspace returns.
	Workspace device.Slice[float32]
}

// Form is a way to compute.
type Form int

// The forms.
const (
	Auto    Form = iota // the fastest one
	Direct              // a block of 16 threads for each head of a sequence, in float32: any device
	Tiled               // warp products: bfloat16 from compute capability 8.0 on, in operands that begin at multiples of 16 bytes
	Grouped             // as Tiled, but products of warp groups: rows of 64 or 128 elements on compute capability 9.0
)

// String returns the form's name.
func (f Form) String() string { return [...]string{"auto", "direct", "tiled", "grouped"}[f] }

// Backward computes the derivatives of prefill.Attend. Additions have an order that depends only on the shape, the spans and the form.
//
// Spans with negative numbers, with rows outside Q, or whose Keys are not their rows are ignored. A NaN or an infinity makes NaNs of the
// derivatives that depend on it, and perhaps of others of the same sequence and head. On GPUs, bfloat16 operands, spans and the
// workspace begin at multiples of 16 bytes. The error is ErrShape or that of the launch.
func Backward[T Element](s *device.Stream, shape prefill.Shape, x Operands[T]) error {
	return BackwardIn(s, Auto, shape, x)
}

// BackwardIn is Backward in a form, for tests and benchmarks. The error is ErrShape if the form does not fit.
func BackwardIn[T Element](s *device.Stream, f Form, shape prefill.Shape, x Operands[T]) error {
	if f == Auto {
		f = formOf[T](s.Device(), shape)
	}
	if err := x.check(f, shape); err != nil || x.O.Len() == 0 {
		return err
	}
	j := job[T]{x, layoutOf(shape, x.O.Len()/(shape.Heads*shape.Dim))}
	if f == Direct {
		return j.direct(s)
	}
	if info := s.Device().Info(); !j.tileable(f, info) {
		return fmt.Errorf("%w: form %v of %T on %v", ErrShape, f, x, info.Name)
	}
	return j.tiled(s, f)
}

// formOf returns the fastest form.
func formOf[T Element](d *device.Device, shape prefill.Shape) Form {
	switch info := d.Info(); {
	case !warped[T](info) || row.FormOf(d) != row.Wide:
		return Direct
	case grouped(info, shape.Dim):
		return Grouped
	}
	return Tiled
}

// Apart reports whether Backward has kernels for rows that are apart, as with Shape.Apart.
func Apart[T Element](d *device.Device, shape prefill.Shape) bool {
	return formOf[T](d, shape) == Grouped && shape.Apart%8 == 0
}

// Workspace returns the elements of scratch memory that Backward needs for a number of rows.
func Workspace[T Element](d *device.Device, shape prefill.Shape, rows int) int {
	return WorkspaceIn[T](formOf[T](d, shape), shape, rows)
}

// WorkspaceIn is Workspace for a form other than Auto.
func WorkspaceIn[T Element](f Form, shape prefill.Shape, rows int) int {
	if rows < 1 || shape.Heads < 1 || shape.KeyHeads < 1 || shape.Dim < 1 {
		return 0
	}
	l := layoutOf(shape, rows)
	if f == Tiled || f == Grouped {
		return l.lines()
	}
	return l.direct(row.Elements[T]() != 4).total()
}

// check returns ErrShape with an explanation if operands do not have a shape.
func (x Operands[T]) check(f Form, s prefill.Shape) error {
	if s.Heads < 1 || s.Heads > math.MaxUint16 || s.KeyHeads < 1 || s.Heads%s.KeyHeads != 0 || s.Dim < row.Lanes || s.Dim%row.Lanes != 0 || s.Dim > prefill.MaxDim || s.Pages != 0 {
		return fmt.Errorf("%w: %+v", ErrShape, s)
	}
	if s.Apart != 0 && (f != Grouped || s.Apart%8 != 0 || s.Apart < s.Heads*s.Dim || s.Apart > math.MaxInt32) {
		return fmt.Errorf("%w: form %v of %+v", ErrShape, f, s)
	}
	rows := x.O.Len() / (s.Heads * s.Dim)
	whole, q, k := rows*s.Heads*s.Dim, rows*s.Heads*s.Dim, rows*s.KeyHeads*s.Dim
	fits := func(x device.Slice[T], n int) bool { return x.Len() == n }
	if s.Apart != 0 && rows > 0 {
		q, k = (rows-1)*s.Apart+s.Heads*s.Dim, (rows-1)*s.Apart+s.KeyHeads*s.Dim
		fits = func(x device.Slice[T], n int) bool { return x.Len() >= n }
	}
	if rows > math.MaxInt32 || x.O.Len() != whole || x.DO.Len() != whole || !fits(x.Q, q) || !fits(x.DQ, q) || !fits(x.K, k) || !fits(x.V, k) || !fits(x.DK, k) || !fits(x.DV, k) || x.States.Len() != rows*s.Heads {
		return fmt.Errorf("%w: %+v; Q has %d elements, O %d, DO %d, DQ %d, K %d, V %d, DK %d, DV %d, States %d", ErrShape, s,
			x.Q.Len(), x.O.Len(), x.DO.Len(), x.DQ.Len(), x.K.Len(), x.V.Len(), x.DK.Len(), x.DV.Len(), x.States.Len())
	}
	if n := WorkspaceIn[T](f, s, rows); x.Workspace.Len() < n {
		return fmt.Errorf("%w: %+v; %d rows, a workspace of %d elements instead of %d", ErrShape, s, rows, x.Workspace.Len(), n)
	}
	return nil
}
