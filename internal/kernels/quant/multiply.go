package quant

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Element is an element type of vectors.
type Element interface{ float32 | dtype.BF16 }

// Operands are the vectors of a product: row i of Y is the matrix times row i of X. A row of X has an element for each column of the
// matrix, a row of Y one for each of its rows.
type Operands[X, Y Element] struct {
	Rows int
	X    device.Slice[X]
	Y    device.Slice[Y]
	Add  bool // whether the products are added to Y instead of replacing it
	// Workspace, which is overwritten, has at least as many elements as the function Workspace returns. On GPUs, if Y does not begin at a
	// multiple of 16 bytes, it has at least as many as Y.
	Workspace device.Slice[float32]
}

// check reports whether the operands fit a matrix of a shape.
func (x Operands[X, Y]) check(s Shape) error {
	if x.Rows < 0 || x.X.Len() != x.Rows*s.Columns || x.Y.Len() != x.Rows*s.Rows {
		return fmt.Errorf("%w: a matrix of %d x %d, %d vectors, operands of %d and %d", ErrShape, s.Rows, s.Columns, x.Rows, x.X.Len(), x.Y.Len())
	}
	return nil
}

// Multiply multiplies a matrix by vectors. No kernel that may still be running, in stream order, may write the matrix.
//
// Products are as exact as float32 sums, except on GPUs for more than 64 vectors, where weights and vectors are rounded to bfloat16. In
// formats without kernels for tensor cores, the limit is 16 vectors. If a number of a row of X is not finite, the row of Y is NaN or
// infinite.
//
// On GPUs, X and Workspace begin at multiples of 16 bytes; else the error is device.ErrAssumption.
func Multiply[X, Y Element](s *device.Stream, m Matrix, x Operands[X, Y]) error {
	if err := m.check(); err != nil {
		return err
	}
	if err := x.check(m.Shape); err != nil || x.Rows == 0 || m.Rows == 0 {
		return err
	}
	if n := Workspace[X, Y](s.Device(), m, x.Rows); x.Workspace.Len() < n {
		return fmt.Errorf("%w: a matrix of %d x %d, %d vectors, a workspace of %d elements instead of %d", ErrShape, m.Rows, m.Columns, x.Rows, x.Workspace.Len(), n)
	}
	switch {
	case m.plain(s.Device(), x.Rows):
		return multiplyPlain(s, m, x)
	case m.widens(x.Rows):
		return multiplyWidened(s, m, x)
	}
	for step, first := m.step(), 0; first < x.Rows; first += step {
		part := x.rows(m.Shape, first, min(step, x.Rows-first))
		if err := multiplyDots(s, planOf[X](s.Device(), m, part.Rows), m, part); err != nil {
			return err
		}
	}
	return nil
}

// step returns the largest number of vectors that a kernel for GPUs multiplies.
func (m Matrix) step() int {
	if m.Format.dots() {
		return batchRows
	}
	return maxVectors
}

// widens reports whether GPUs convert the weights for a number of vectors.
func (m Matrix) widens(rows int) bool {
	if m.Format.dots() {
		return rows > mostRows
	}
	return rows > fewRows
}

// aligned reports whether the results begin at a multiple of 16 bytes.
func (x Operands[X, Y]) aligned() bool { return x.Y.Aligned(16) }

// rows returns n of the vectors.
func (x Operands[X, Y]) rows(s Shape, first, n int) Operands[X, Y] {
	x.Rows, x.X, x.Y = n, x.X.Slice(first*s.Columns, (first+n)*s.Columns), x.Y.Slice(first*s.Rows, (first+n)*s.Rows)
	return x
}

// Workspace returns the elements of scratch memory that Multiply needs for a number of vectors.
func Workspace[X, Y Element](d *device.Device, m Matrix, rows int) int {
	switch {
	case !m.valid() || rows < 1:
		return 0
	case m.plain(d, rows):
		return plainWorkspace[X, Y](m.Shape, rows)
	case m.widens(rows):
		return widenedWorkspace[X, Y](d, m.Shape, rows)
	}
	n := min(rows, m.step())
	p := planOf[X](d, m, n)
	if aligned := !brief[Y]() || n*m.Rows%8 == 0; p.slices == 1 && (rows == n || aligned) {
		return 0 // as all parts of Y are aligned if Y is
	}
	return p.workspace()
}

// split returns the slice as one of the two element types; the other one is empty.
func split[T Element](x device.Slice[T]) (device.Slice[float32], device.Slice[dtype.BF16]) {
	switch x := any(x).(type) {
	case device.Slice[float32]:
		return x, device.None[dtype.BF16]()
	case device.Slice[dtype.BF16]:
		return device.None[float32](), x
	}
	panic("BUG: quant: an element type of no kernel")
}
