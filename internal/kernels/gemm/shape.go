package gemm

import (
	"errors"
	"fmt"
	"math"
)

// Layout says which operand of a product is transposed. All matrices are row-major.
type Layout int

// The layouts.
const (
	NT Layout = iota // C = A Bᵀ: A is M x K, and B is N x K, as the weights of a linear layer are
	NN               // C = A B: A is M x K, and B is K x N
	TN               // C = Aᵀ B: A is K x M, and B is K x N
)

// String returns the layout's name.
func (l Layout) String() string {
	if l < NT || l > TN {
		return fmt.Sprintf("Layout(%d)", int(l))
	}
	return [...]string{"NT", "NN", "TN"}[l]
}

// Shape is the layout and the sizes of a product: C has M rows and N columns, and each of its elements is a sum of K products. LDA,
// LDB and LDC are the numbers of elements from one row to the next; 0 means that rows follow each other without a gap.
type Shape struct {
	Layout        Layout
	M, N, K       int
	LDA, LDB, LDC int
}

// ErrShape is the error of operands that do not fit a shape, and of shapes and layouts that do not exist.
var ErrShape = errors.New("gemm: shape does not fit")

// complete returns s with all distances between rows, for a C of the given number of columns.
func (s Shape) complete(width int) Shape {
	for _, m := range []struct {
		ld   *int
		cols int
	}{{&s.LDA, s.a().cols}, {&s.LDB, s.b().cols}, {&s.LDC, width}} {
		if *m.ld == 0 {
			*m.ld = m.cols
		}
	}
	return s
}

// matrix is the size of a matrix in memory.
type matrix struct{ rows, cols, ld int }

func (s Shape) a() matrix {
	if s.Layout == TN {
		return matrix{s.K, s.M, s.LDA}
	}
	return matrix{s.M, s.K, s.LDA}
}

func (s Shape) b() matrix {
	if s.Layout == NT {
		return matrix{s.N, s.K, s.LDB}
	}
	return matrix{s.K, s.N, s.LDB}
}

// length returns the number of elements from the first to the last one of a matrix, and whether it exists.
func (m matrix) length() (int, bool) {
	switch {
	case m.rows < 0 || m.cols < 0 || m.ld < m.cols:
		return 0, false
	case m.rows == 0 || m.cols == 0:
		return 0, true
	case m.rows > (math.MaxInt64-m.cols)/m.ld:
		return 0, false
	}
	return (m.rows-1)*m.ld + m.cols, true
}

// check reports whether operands of the given lengths have the elements of a complete shape.
func (s Shape) check(width int, lengths [3]int) error {
	if s.Layout < NT || s.Layout > TN {
		return fmt.Errorf("%w: %v", ErrShape, s.Layout)
	}
	for i, m := range []matrix{s.a(), s.b(), {s.M, width, s.LDC}} {
		if need, ok := m.length(); !ok || lengths[i] < need {
			return fmt.Errorf("%w: %+v: %c has %d elements for %d rows of %d, %d apart", ErrShape, s, 'A'+i, lengths[i], m.rows, m.cols, m.ld)
		}
	}
	return nil
}

// indexA returns the index of an element of op(A).
func (s Shape) indexA(row, col int) int {
	if s.Layout == TN {
		return col*s.LDA + row
	}
	return row*s.LDA + col
}

// indexB returns the index of an element of op(B).
func (s Shape) indexB(row, col int) int {
	if s.Layout == NT {
		return col*s.LDB + row
	}
	return row*s.LDB + col
}
