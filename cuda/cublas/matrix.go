package cublas

// The library's matrices are column-major: the rows of this package are its columns, so it sees the
// transpose of every matrix. The functions below therefore call it for the transposed equation,
// which their comments state.

// MatrixVector is y = Alpha*A*x + Beta*y. If TransA is set, A is transposed.
type MatrixVector[T Float] struct {
	Alpha, Beta T
	A           Matrix[T]
	TransA      bool
	X, Y        Vector[T]
}

// Gemv multiplies a matrix and a vector.
func Gemv[T Float](h *Handle, p MatrixVector[T]) error {
	c := h.begin(of[T](gemv))
	a := p.A.size(p.TransA)
	c.same("columns of A and length of x", a.cols, p.X.N)
	c.same("rows of A and length of y", a.rows, p.Y.N)
	c.put(transposition(!p.TransA), p.A.Cols, p.A.Rows)
	putScalar(c, 0, p.Alpha)
	putMatrix(c, "A", p.A)
	putVector(c, "x", p.X)
	putScalar(c, 1, p.Beta)
	putVector(c, "y", p.Y)
	return c.end()
}

// OuterProduct is A += Alpha*x*y', where y' is the transpose of y.
type OuterProduct[T Float] struct {
	Alpha T
	X, Y  Vector[T]
	A     Matrix[T]
}

// Ger adds an outer product to a matrix.
func Ger[T Float](h *Handle, p OuterProduct[T]) error {
	c := h.begin(of[T](ger))
	c.same("rows of A and length of x", p.A.Rows, p.X.N)
	c.same("columns of A and length of y", p.A.Cols, p.Y.N)
	c.put(p.A.Cols, p.A.Rows)
	putScalar(c, 0, p.Alpha)
	putVector(c, "y", p.Y)
	putVector(c, "x", p.X)
	putMatrix(c, "A", p.A)
	return c.end()
}

// Product is C = Alpha*A*B + Beta*C. TransA transposes A, and TransB transposes B.
type Product[T Float] struct {
	Alpha, Beta    T
	A, B, C        Matrix[T]
	TransA, TransB bool
}

// Gemm multiplies matrices.
func Gemm[T Float](h *Handle, p Product[T]) error {
	c := h.begin(of[T](gemm))
	a := p.A.size(p.TransA)
	c.product(a, p.B.size(p.TransB), p.C.size(false))
	c.put(transposition(p.TransB), transposition(p.TransA), p.C.Cols, p.C.Rows, a.cols) // C' = B' A'
	putScalar(c, 0, p.Alpha)
	putMatrix(c, "B", p.B)
	putMatrix(c, "A", p.A)
	putScalar(c, 1, p.Beta)
	putMatrix(c, "C", p.C)
	return c.end()
}

// Batch is N products in one call. The matrix A of each product starts StrideA elements after the
// matrix A of the previous product. StrideB and StrideC are the distances for B and C.
type Batch[T Float] struct {
	Product[T]
	N                         int
	StrideA, StrideB, StrideC int
}

// GemmBatched computes a batch of products. A.Data contains the matrices A of all products, and
// likewise B.Data and C.Data.
func GemmBatched[T Float](h *Handle, p Batch[T]) error {
	c := h.begin(of[T](gemmBatched))
	a := p.A.size(p.TransA)
	c.product(a, p.B.size(p.TransB), p.C.size(false))
	c.put(transposition(p.TransB), transposition(p.TransA), p.C.Cols, p.C.Rows, a.cols)
	putScalar(c, 0, p.Alpha)
	putBatch(c, "B", p.B, batch{p.N, p.StrideB})
	putBatch(c, "A", p.A, batch{p.N, p.StrideA})
	putScalar(c, 1, p.Beta)
	putBatch(c, "C", p.C, batch{p.N, p.StrideC})
	c.put(p.N)
	return c.end()
}
