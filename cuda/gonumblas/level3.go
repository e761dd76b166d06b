package gonumblas

import (
	"errors"

	"gonum.org/v1/gonum/blas"

	"github.com/gopherwarp/gopherwarp/cuda/cublas"
)

// product is an equation C = alpha*A*B + beta*C, or a similar one, on the GPU.
type product[T cublas.Float] struct {
	a, b, c matrix[T] // b has nil data if there is no B
	beta    T
	part    part // the part of c that is the result
	work    int  // number of multiplications
	call    func(h *cublas.Handle, a, b, c cublas.Matrix[T]) error
}

// compute computes p on the GPU, if that is faster, and reports whether it has.
func compute[T cublas.Float](i *Implementation, p product[T]) bool {
	if p.work < i.least || !fits(p.a, p.c) || p.b.data != nil && !fits(p.b) {
		return false
	}
	return i.do(func(l *lane) error {
		a, err := upload(l, p.a)
		var b, c loan[T]
		if err == nil && p.b.data != nil {
			b, err = upload(l, p.b)
		}
		if err == nil {
			bring := upload[T]
			if p.beta == 0 {
				bring = room[T]
			}
			c, err = bring(l, p.c)
		}
		if err == nil {
			var second cublas.Matrix[T]
			if b.buffer != nil {
				second = b.matrix()
			}
			if err = p.call(l.blas, a.matrix(), second, c.matrix()); err == nil {
				err = c.fetch(l, p.part)
			}
		}
		return errors.Join(err, free(a, b, c))
	})
}

// square returns the n by n matrix in data.
func square[T cublas.Float](n int, data []T, stride int) matrix[T] {
	return matrix[T]{n, n, data, stride}
}

// triangular is a product or a system whose result replaces b.
func triangular[T cublas.Float](a, b matrix[T]) product[T] {
	return product[T]{a: a, c: b, beta: 1, part: whole(b.cols), work: b.rows * b.cols * a.rows / 2}
}

func side(s blas.Side) cublas.Side {
	if s == blas.Right {
		return cublas.Right
	}
	return cublas.Left
}

func uplo(u blas.Uplo) cublas.Triangle {
	if u == blas.Lower {
		return cublas.Lower
	}
	return cublas.Upper
}

func transposed(t blas.Transpose) bool { return t != blas.NoTrans }

func known(t ...blas.Transpose) bool {
	for _, t := range t {
		if t != blas.NoTrans && t != blas.Trans && t != blas.ConjTrans {
			return false
		}
	}
	return true
}

// order returns the number of rows of the special matrix, which depends on its side.
func order(s blas.Side, m, n int) int {
	if s == blas.Right {
		return n
	}
	return m
}

// regular reports whether the arguments are valid for BLAS. If they are not, gonum's own code
// panics.
func regular(s blas.Side, u blas.Uplo) bool {
	return (s == blas.Left || s == blas.Right) && (u == blas.Upper || u == blas.Lower)
}

func diagonal(d blas.Diag) bool { return d == blas.Unit || d == blas.NonUnit }
