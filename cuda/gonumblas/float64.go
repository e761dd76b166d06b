package gonumblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/gopherwarp/gopherwarp/cuda/cublas"
)

// The methods below implement blas.Float64; gonum documents them. BLAS determines the number of
// parameters.

// Dgemm implements blas.Float64Level3.
func (i *Implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	p := product[float64]{
		a: of[float64](tA, m, k).in(a, lda), b: of[float64](tB, k, n).in(b, ldb), c: matrix[float64]{m, n, c, ldc},
		beta: beta, part: whole(n), work: m * n * k,
		call: func(h *cublas.Handle, a, b, c cublas.Matrix[float64]) error {
			return cublas.Gemm(h, cublas.Product[float64]{Alpha: alpha, Beta: beta, A: a, B: b, C: c, TransA: transposed(tA), TransB: transposed(tB)})
		},
	}
	if !known(tA, tB) || !fits(p.b) || !compute(i, p) {
		i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsymm implements blas.Float64Level3.
func (i *Implementation) Dsymm(s blas.Side, ul blas.Uplo, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	p := product[float64]{
		a: square(order(s, m, n), a, lda), b: matrix[float64]{m, n, b, ldb}, c: matrix[float64]{m, n, c, ldc},
		beta: beta, part: whole(n), work: m * n * order(s, m, n),
		call: func(h *cublas.Handle, a, b, c cublas.Matrix[float64]) error {
			return cublas.Symm(h, cublas.Symmetric[float64]{Alpha: alpha, Beta: beta, Side: side(s), Triangle: uplo(ul), A: a, B: b, C: c})
		},
	}
	if !regular(s, ul) || !fits(p.b) || !compute(i, p) {
		i.Implementation.Dsymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dsyrk implements blas.Float64Level3.
func (i *Implementation) Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	p := product[float64]{
		a: of[float64](t, n, k).in(a, lda), c: square(n, c, ldc), beta: beta, part: triangle(ul, n), work: n * n * k / 2,
		call: func(h *cublas.Handle, a, _, c cublas.Matrix[float64]) error {
			return cublas.Syrk(h, cublas.RankK[float64]{Alpha: alpha, Beta: beta, Triangle: uplo(ul), A: a, C: c, Trans: transposed(t)})
		},
	}
	if !known(t) || !regular(blas.Left, ul) || !compute(i, p) {
		i.Implementation.Dsyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Dsyr2k implements blas.Float64Level3.
func (i *Implementation) Dsyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	p := product[float64]{
		a: of[float64](t, n, k).in(a, lda), b: of[float64](t, n, k).in(b, ldb), c: square(n, c, ldc),
		beta: beta, part: triangle(ul, n), work: n * n * k,
		call: func(h *cublas.Handle, a, b, c cublas.Matrix[float64]) error {
			return cublas.Syr2k(h, cublas.Rank2K[float64]{Alpha: alpha, Beta: beta, Triangle: uplo(ul), A: a, B: b, C: c, Trans: transposed(t)})
		},
	}
	if !known(t) || !regular(blas.Left, ul) || !fits(p.b) || !compute(i, p) {
		i.Implementation.Dsyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Dtrmm implements blas.Float64Level3.
func (i *Implementation) Dtrmm(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	p := triangular(square(order(s, m, n), a, lda), matrix[float64]{m, n, b, ldb})
	p.call = func(h *cublas.Handle, a, _, b cublas.Matrix[float64]) error {
		return cublas.Trmm(h, cublas.Triangular[float64]{Alpha: alpha, Side: side(s), Triangle: uplo(ul), A: a, B: b, Trans: transposed(t), Unit: d == blas.Unit})
	}
	if !known(t) || !regular(s, ul) || !diagonal(d) || !compute(i, p) {
		i.Implementation.Dtrmm(s, ul, t, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Dtrsm implements blas.Float64Level3.
func (i *Implementation) Dtrsm(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	p := triangular(square(order(s, m, n), a, lda), matrix[float64]{m, n, b, ldb})
	p.call = func(h *cublas.Handle, a, _, b cublas.Matrix[float64]) error {
		return cublas.Trsm(h, cublas.Triangular[float64]{Alpha: alpha, Side: side(s), Triangle: uplo(ul), A: a, B: b, Trans: transposed(t), Unit: d == blas.Unit})
	}
	if !known(t) || !regular(s, ul) || !diagonal(d) || !compute(i, p) {
		i.Implementation.Dtrsm(s, ul, t, d, m, n, alpha, a, lda, b, ldb)
	}
}
