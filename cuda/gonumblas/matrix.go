package gonumblas

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas"

	"github.com/gopherwarp/gopherwarp/cuda/cublas"
	"github.com/gopherwarp/gopherwarp/device"
)

// matrix is a matrix of the program, row-major, with stride elements from one row to the next.
type matrix[T cublas.Float] struct {
	rows, cols int
	data       []T
	stride     int
}

// of returns a matrix of the given size, or if t demands it, one whose transpose has that size.
func of[T cublas.Float](t blas.Transpose, rows, cols int) matrix[T] {
	if t != blas.NoTrans {
		rows, cols = cols, rows
	}
	return matrix[T]{rows: rows, cols: cols}
}

// in returns the matrix m stored in data.
func (m matrix[T]) in(data []T, stride int) matrix[T] {
	m.data, m.stride = data, stride
	return m
}

// fits reports whether all matrices are valid. If they are not, gonum's own code panics.
func fits[T cublas.Float](all ...matrix[T]) bool {
	for _, m := range all {
		if m.rows <= 0 || m.cols <= 0 || m.stride < m.cols || len(m.data) < (m.rows-1)*m.stride+m.cols {
			return false
		}
	}
	return true
}

// packed returns the elements of the matrix without gaps. The gaps between rows may belong to other
// matrices, which other goroutines change.
func (m matrix[T]) packed() []T {
	if m.stride == m.cols {
		return m.data[:m.rows*m.cols]
	}
	p := make([]T, m.rows*m.cols)
	for i := range m.rows {
		copy(p[i*m.cols:(i+1)*m.cols], m.data[i*m.stride:])
	}
	return p
}

// loan is a matrix on the GPU.
type loan[T cublas.Float] struct {
	of     matrix[T]
	buffer *device.Buffer[T]
}

// upload copies a matrix to the GPU.
func upload[T cublas.Float](l *lane, m matrix[T]) (loan[T], error) {
	b, err := device.Upload(l.stream, m.packed())
	return loan[T]{m, b}, err
}

// room is like upload, but does not copy the elements.
func room[T cublas.Float](l *lane, m matrix[T]) (loan[T], error) {
	b, err := device.MakeDirty[T](l.stream, m.rows*m.cols)
	return loan[T]{m, b}, err
}

func (n loan[T]) matrix() cublas.Matrix[T] {
	return cublas.Matrix[T]{Rows: n.of.rows, Cols: n.of.cols, Data: n.buffer.All()}
}

// part returns the range of elements of a row that belongs to the result.
type part func(row int) (from, to int)

// fetch downloads a result, waits, and stores the part p of it.
func (n loan[T]) fetch(l *lane, p part) error {
	got := make([]T, n.of.rows*n.of.cols)
	if err := device.Download(l.stream, got, n.buffer); err != nil {
		return err
	}
	if err := l.stream.Synchronize(context.Background()); err != nil {
		return err
	}
	for i := range n.of.rows {
		from, to := p(i)
		copy(n.of.data[i*n.of.stride+from:i*n.of.stride+to], got[i*n.of.cols+from:i*n.of.cols+to])
	}
	return nil
}

// whole is the part that consists of all rows of a matrix.
func whole(cols int) part { return func(int) (int, int) { return 0, cols } }

// triangle is the part that consists of a triangle of a square matrix.
func triangle(u blas.Uplo, n int) part {
	if u == blas.Upper {
		return func(row int) (int, int) { return row, n }
	}
	return func(row int) (int, int) { return 0, row + 1 }
}

// free frees the memory after the work so far.
func free[T cublas.Float](all ...loan[T]) (err error) {
	for _, n := range all {
		if n.buffer != nil {
			err = errors.Join(err, n.buffer.Close())
		}
	}
	return err
}
