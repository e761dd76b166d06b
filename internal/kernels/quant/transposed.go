package quant

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
)

// mostWidened is the number of weights that MultiplyTransposed has as float32 numbers at a time: few enough for a cache.
const mostWidened = 1 << 22

// transposedShape returns the product of vectors and n rows of the matrix.
func (m Matrix) transposedShape(rows, n int) gemm.Shape {
	return gemm.Shape{Layout: gemm.NN, M: rows, N: m.Columns, K: n, LDA: m.Rows}
}

// portion returns the number of rows that are converted to float32 at a time, given the maximum of weights.
func (m Matrix) portion(most int) int { return min(m.Rows, max(most/m.Columns, 1)) }

// WorkspaceTransposed returns the elements of scratch memory that MultiplyTransposed needs for a number of vectors.
func WorkspaceTransposed[T Element](d *device.Device, m Matrix, rows int) int {
	switch {
	case !m.valid() || rows < 1:
		return 0
	case brief[T]():
		return m.Rows*m.Columns/2 + gemm.Workspace(d, m.transposedShape(rows, m.Rows), gemm.None)
	}
	return m.portion(mostWidened) * (m.Columns + 1)
}

// MultiplyTransposed multiplies vectors by a matrix: row i of Y is row i of X times the matrix, which is the derivative with respect to the
// vectors of Multiply, given that with respect to its results. A row of X has an element for each row of the matrix, a row of Y one
// for each of its columns. Weights are converted to the elements' type, and multiplied by package gemm.
func MultiplyTransposed[T Element](s *device.Stream, m Matrix, x Operands[T, T]) error {
	if err := m.check(); err != nil {
		return err
	}
	if x.Rows < 0 || x.X.Len() != x.Rows*m.Rows || x.Y.Len() != x.Rows*m.Columns {
		return fmt.Errorf("%w: a matrix of %d x %d, transposed, %d vectors, operands of %d and %d", ErrShape, m.Rows, m.Columns, x.Rows, x.X.Len(), x.Y.Len())
	}
	if n := WorkspaceTransposed[T](s.Device(), m, x.Rows); x.Workspace.Len() < n {
		return fmt.Errorf("%w: a matrix of %d x %d, transposed, %d vectors, a workspace of %d elements instead of %d", ErrShape, m.Rows, m.Columns, x.Rows, x.Workspace.Len(), n)
	}
	switch {
	case x.Rows == 0:
		return nil
	case m.Rows == 0 && x.Add:
		return nil
	case m.Rows == 0:
		return device.Fill(s, x.Y, T(0))
	}
	switch x := any(x).(type) {
	case Operands[float32, float32]:
		return m.transposed32(s, x, m.portion(mostWidened))
	case Operands[dtype.BF16, dtype.BF16]:
		return m.transposedHalf(s, x)
	}
	panic("BUG: quant: an element type of no kernel")
}

// transposed32 adds the products of portions of the matrix, of at most the given number of rows.
func (m Matrix) transposed32(s *device.Stream, x Operands[float32, float32], portion int) error {
	for first := 0; first < m.Rows; first += portion {
		n := min(portion, m.Rows-first)
		weights, rest := cut(x.Workspace, n*m.Columns)
		numbers := device.View[int32](rest.Slice(0, n))
		if err := Enumerate(s, device.Cover(n, gatherThreads), numbers, int32(first)); err != nil {
			return err
		}
		if err := Gather(s, m, numbers, weights); err != nil {
			return err
		}
		o := gemm.Operands[float32, float32, float32]{A: x.X.Slice(first, x.X.Len()), B: weights, C: x.Y}
		if x.Add || first > 0 {
			o.Residual = x.Y
		}
		if err := gemm.Float32(s, m.transposedShape(x.Rows, n), o); err != nil {
			return err
		}
	}
	return nil
}

// transposedHalf converts the whole matrix to bfloat16.
func (m Matrix) transposedHalf(s *device.Stream, x Operands[dtype.BF16, dtype.BF16]) error {
	weights, work := cut(x.Workspace, m.Rows*m.Columns/2)
	w := device.View[dtype.BF16](weights)
	if err := m.widen(s, w); err != nil {
		return err
	}
	o := gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: x.X, B: w, C: x.Y, Workspace: work}
	if x.Add {
		o.Residual = x.Y
	}
	return gemm.Half(s, m.transposedShape(x.Rows, m.Rows), o)
}

// enumerate stores consecutive numbers.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
func enumerate(t gpu.Thread, to []int32, first int32) {
	if i := t.GlobalX(); i < len(to) {
		to[i] = first + int32(i)
	}
}
