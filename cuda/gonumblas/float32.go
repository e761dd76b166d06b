package gonumblas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/gopherwarp/gopherwarp/cuda/cublas"
)

// The methods below implement blas.Float32; gonum documents them. BLAS determines the number of
// parameters.

// Sgemm implements blas.Float32Level3.
func (i *Implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	p := product[float32]{
		a: of[float32](tA, m, k).in(a, lda), b: of[float32](tB, k, n).in(b, ldb), c: matrix[float32]{m, n, c, ldc},
		beta: beta, part: whole(n), work: m * n * k,
		call: func(h *cublas.Handle, a, b, c cublas.Matrix[float32]) error {
			return cublas.Gemm(h, cublas.Product[float32]{Alpha: alpha, Beta: beta, A: a, B: b, C: c, TransA: transposed(tA), TransB: transposed(tB)})
		},
	}
	if !known(tA, tB) || !fits(p.b) || !compute(i, p) {
		i.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ssymm implements blas.Float32Level3.
func (i *Implementation) Ssymm(s blas.Side, ul blas.Uplo, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	p := product[float32]{
		a: square(order(s, m, n), a, lda), b: matrix[float32]{m, n, b, ldb}, c: matrix[float32]{m, n, c, ldc},
		beta: beta, part: whole(n), work: m * n * order(s, m, n),
		call: func(h *cublas.Handle, a, b, c cublas.Matrix[float32]) error {
			return cublas.Symm(h, cublas.Symmetric[float32]{Alpha: alpha, Beta: beta, Side: side(s), Triangle: uplo(ul), A: a, B: b, C: c})
		},
	}
	if !regular(s, ul) || !fits(p.b) || !compute(i, p) {
		i.Implementation.Ssymm(s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Ssyrk implements blas.Float32Level3.
func (i *Implementation) Ssyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32, c []float32, ldc int) {
	p := product[float32]{
		a: of[float32](t, n, k).in(a, lda), c: square(n, c, ldc), beta: beta, part: triangle(ul, n), work: n * n * k / 2,
		call: func(h *cublas.Handle, a, _, c cublas.Matrix[float32]) error {
			return cublas.Syrk(h, cublas.RankK[float32]{Alpha: alpha, Beta: beta, Triangle: uplo(ul), A: a, C: c, Trans: transposed(t)})
		},
	}
	if !known(t) || !regular(blas.Left, ul) || !compute(i, p) {
		i.Implementation.Ssyrk(ul, t, n, k, alpha, a, lda, beta, c, ldc)
	}
}

// Ssyr2k implements blas.Float32Level3.
func (i *Implementation) Ssyr2k(ul blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	p := product[float32]{
		a: of[float32](t, n, k).in(a, lda), b: of[float32](t, n, k).in(b, ldb), c: square(n, c, ldc),
		beta: beta, part: triangle(ul, n), work: n * n * k,
		call: func(h *cublas.Handle, a, b, c cublas.Matrix[float32]) error {
			return cublas.Syr2k(h, cublas.Rank2K[float32]{Alpha: alpha, Beta: beta, Triangle: uplo(ul), A: a, B: b, C: c, Trans: transposed(t)})
		},
	}
	if !known(t) || !regular(blas.Left, ul) || !fits(p.b) || !compute(i, p) {
		i.Implementation.Ssyr2k(ul, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	}
}

// Strmm implements blas.Float32Level3.
func (i *Implementation) Strmm(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int) {
	p := triangular(square(order(s, m, n), a, lda), matrix[float32]{m, n, b, ldb})
	p.call = func(h *cublas.Handle, a, _, b cublas.Matrix[float32]) error {
		return cublas.Trmm(h, cublas.Triangular[float32]{Alpha: alpha, Side: side(s), Triangle: uplo(ul), A: a, B: b, Trans: transposed(t), Unit: d == blas.Unit})
	}
	if !known(t) || !regular(s, ul) || !diagonal(d) || !compute(i, p) {
		i.Implementation.Strmm(s, ul, t, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Strsm implements blas.Float32Level3.
func (i *Implementation) Strsm(s blas.Side, ul blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float32, a []float32, lda int, b []float32, ldb int) {
	p := triangular(square(order(s, m, n), a, lda), matrix[float32]{m, n, b, ldb})
	p.call = func(h *cublas.Handle, a, _, b cublas.Matrix[float32]) error {
		return cublas.Trsm(h, cublas.Triangular[float32]{Alpha: alpha, Side: side(s), Triangle: uplo(ul), A: a, B: b, Trans: transposed(t), Unit: d == blas.Unit})
	}
	if !known(t) || !regular(s, ul) || !diagonal(d) || !compute(i, p) {
		i.Implementation.Strsm(s, ul, t, d, m, n, alpha, a, lda, b, ldb)
	}
}
