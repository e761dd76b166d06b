package cublas

// Symmetric is C = Alpha*A*B + Beta*C with a symmetric A. If Side is Right, Symmetric is C =
// Alpha*B*A + Beta*C.
type Symmetric[T Float] struct {
	Alpha, Beta T
	Side        Side
	Triangle    Triangle // the triangle of A that is read
	A, B, C     Matrix[T]
}

// Symm multiplies by a symmetric matrix.
func Symm[T Float](h *Handle, p Symmetric[T]) error {
	c := h.begin(of[T](symm))
	if p.Side == Left {
		c.product(p.A.size(false), p.B.size(false), p.C.size(false))
	} else {
		c.product(p.B.size(false), p.A.size(false), p.C.size(false))
	}
	c.same("rows and columns of A", p.A.Rows, p.A.Cols)
	c.put(1-int(p.Side), int(p.Triangle), p.C.Cols, p.C.Rows) // C' = B' A
	putScalar(c, 0, p.Alpha)
	putMatrix(c, "A", p.A)
	putMatrix(c, "B", p.B)
	putScalar(c, 1, p.Beta)
	putMatrix(c, "C", p.C)
	return c.end()
}

// RankK is C = Alpha*A*A' + Beta*C, where A' is the transpose of A. If Trans is set, RankK is C =
// Alpha*A'*A + Beta*C. Only one triangle of C is computed.
type RankK[T Float] struct {
	Alpha, Beta T
	Triangle    Triangle // the triangle of C that is computed
	A, C        Matrix[T]
	Trans       bool
}

// Syrk computes a symmetric rank-k update (see RankK).
func Syrk[T Float](h *Handle, p RankK[T]) error {
	c := h.begin(of[T](syrk))
	a := p.A.size(p.Trans)
	c.product(a, size{a.cols, a.rows}, p.C.size(false))
	c.put(int(p.Triangle), transposition(!p.Trans), a.rows, a.cols)
	putScalar(c, 0, p.Alpha)
	putMatrix(c, "A", p.A)
	putScalar(c, 1, p.Beta)
	putMatrix(c, "C", p.C)
	return c.end()
}

// Rank2K is C = Alpha*(A*B' + B*A') + Beta*C, where A' is the transpose of A. If Trans is set,
// Rank2K is C = Alpha*(A'*B + B'*A) + Beta*C. Only one triangle of C is computed.
type Rank2K[T Float] struct {
	Alpha, Beta T
	Triangle    Triangle // the triangle of C that is computed
	A, B, C     Matrix[T]
	Trans       bool
}

// Syr2k computes a symmetric rank-2k update (see Rank2K).
func Syr2k[T Float](h *Handle, p Rank2K[T]) error {
	c := h.begin(of[T](syr2k))
	a, b := p.A.size(p.Trans), p.B.size(p.Trans)
	c.product(a, size{b.cols, b.rows}, p.C.size(false))
	c.same("rows of A and of B", a.rows, b.rows)
	c.put(int(p.Triangle), transposition(!p.Trans), a.rows, a.cols)
	putScalar(c, 0, p.Alpha)
	putMatrix(c, "A", p.A)
	putMatrix(c, "B", p.B)
	putScalar(c, 1, p.Beta)
	putMatrix(c, "C", p.C)
	return c.end()
}

// Triangular is B = Alpha*A*B with a triangular A. If Side is Right, Triangular is B = Alpha*B*A.
// If Trans is set, A is transposed. Trsm solves the inverse problem: it sets B to Alpha*X, where X
// is the solution of A*X = B.
type Triangular[T Float] struct {
	Alpha    T
	Side     Side
	Triangle Triangle // the triangle of A that is read
	A, B     Matrix[T]
	Trans    bool
	Unit     bool // the diagonal of A counts as 1 and is not read
}

// Trmm multiplies by a triangular matrix.
func Trmm[T Float](h *Handle, p Triangular[T]) error {
	c := h.begin(of[T](trmm))
	putTriangular(c, p)
	putMatrix(c, "B", p.B) // the result
	return c.end()
}

// Trsm solves a triangular system.
func Trsm[T Float](h *Handle, p Triangular[T]) error {
	c := h.begin(of[T](trsm))
	putTriangular(c, p)
	return c.end()
}

func putTriangular[T Float](c *call, p Triangular[T]) {
	n := p.B.Rows
	if p.Side == Right {
		n = p.B.Cols
	}
	c.same("rows and columns of A", p.A.Rows, p.A.Cols)
	c.same("sizes of A and B", p.A.Rows, n)
	c.put(1-int(p.Side), int(p.Triangle), transposition(p.Trans), transposition(p.Unit), p.B.Cols, p.B.Rows)
	putScalar(c, 0, p.Alpha)
	putMatrix(c, "A", p.A)
	putMatrix(c, "B", p.B)
}
