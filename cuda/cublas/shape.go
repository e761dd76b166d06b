package cublas

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
)

// Float is the element type of most functions.
type Float interface{ float32 | float64 }

// Matrix is a row-major matrix. Element (i, j) is element i*Stride+j of Data. A Stride of 0 means
// Cols.
type Matrix[T any] struct {
	Rows, Cols int
	Data       device.Slice[T]
	Stride     int
}

// Vector is a vector of N elements of Data, which are Inc elements apart. An Inc of 0 means 1; Inc
// must not be negative.
type Vector[T any] struct {
	N    int
	Data device.Slice[T]
	Inc  int
}

// Side states whether the symmetric or triangular matrix is the left or the right factor of a
// product.
type Side int

// The sides.
const (
	Left  Side = 0
	Right Side = 1
)

// Triangle is the triangle of a symmetric or triangular matrix that is used. The other triangle is
// neither read nor written.
type Triangle int

// The triangles.
const (
	Upper Triangle = 0
	Lower Triangle = 1
)

func (m Matrix[T]) stride() int {
	if m.Stride == 0 {
		return max(1, m.Cols)
	}
	return m.Stride
}

// size is the number of rows and columns of a matrix.
type size struct{ rows, cols int }

// size returns the size of the matrix, or of its transpose.
func (m Matrix[T]) size(transposed bool) size {
	if transposed {
		return size{m.Cols, m.Rows}
	}
	return size{m.Rows, m.Cols}
}

// product checks that the sizes in a product c = a*b match.
func (c *call) product(a, b, to size) {
	c.same("columns of A and rows of B", a.cols, b.rows)
	c.same("rows of A and rows of C", a.rows, to.rows)
	c.same("columns of B and columns of C", b.cols, to.cols)
}

// putMatrix appends a matrix and its stride.
func putMatrix[T any](c *call, name string, m Matrix[T]) {
	need := 0
	if m.Rows > 0 {
		need = (m.Rows-1)*m.stride() + m.Cols
	}
	if m.Rows < 0 || m.Cols < 0 || m.stride() < m.Cols || need > m.Data.Len() {
		c.fail(fmt.Errorf("cublas: %s: %d rows of %d elements, stride %d, in %d elements: %w", name, m.Rows, m.Cols, m.stride(), m.Data.Len(), ErrShape))
	}
	c.put(int(m.Data.Lend(&c.loans)), m.stride())
}

// putVector appends a vector and its increment.
func putVector[T any](c *call, name string, v Vector[T]) {
	inc := v.Inc
	if inc == 0 {
		inc = 1
	}
	if v.N < 0 || inc < 0 || v.N > 0 && (v.N-1)*inc >= v.Data.Len() {
		c.fail(fmt.Errorf("cublas: %s: %d elements, increment %d, in %d elements: %w", name, v.N, inc, v.Data.Len(), ErrShape))
	}
	c.put(int(v.Data.Lend(&c.loans)), inc)
}

// putResult appends the address of a scalar result on the device.
func putResult[T any](c *call, r device.Slice[T]) {
	if r.Len() != 1 {
		c.fail(fmt.Errorf("cublas: %d elements for one result: %w", r.Len(), ErrShape))
	}
	c.onGPU = true
	c.put(int(r.Lend(&c.loans)))
}

// same checks that two sizes are equal.
func (c *call) same(what string, a, b int) {
	if a != b {
		c.fail(fmt.Errorf("cublas: %s: %d and %d: %w", what, a, b, ErrShape))
	}
}

// batch is the number of matrices, and the distance between the first elements of consecutive ones.
type batch struct{ n, stride int }

// putBatch appends matrices, their stride and their distance.
func putBatch[T any](c *call, name string, m Matrix[T], b batch) {
	checkBatch(c, name, m, b)
	putMatrix(c, name, m)
	c.put(b.stride)
}

// checkBatch checks that all matrices are within their memory.
func checkBatch[T any](c *call, name string, m Matrix[T], b batch) {
	if need := (b.n-1)*b.stride + (m.Rows-1)*m.stride() + m.Cols; b.n > 1 && (b.stride < 0 || need > m.Data.Len()) {
		c.fail(fmt.Errorf("cublas: %s: %d matrices, stride %d, in %d elements: %w", name, b.n, b.stride, m.Data.Len(), ErrShape))
	}
}

// transposition returns the library's constant (cublasOperation_t).
func transposition(t bool) int {
	if t {
		return 1
	}
	return 0
}
