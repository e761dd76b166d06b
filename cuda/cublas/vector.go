package cublas

import "github.com/gopherwarp/gopherwarp/device"

// Axpy adds alpha*x to y.
func Axpy[T Float](h *Handle, alpha T, x, y Vector[T]) error {
	c := h.begin(of[T](axpy))
	c.same("lengths of x and y", x.N, y.N)
	c.put(x.N)
	putScalar(c, 0, alpha)
	putVector(c, "x", x)
	putVector(c, "y", y)
	return c.end()
}

// Scal multiplies x by alpha.
func Scal[T Float](h *Handle, alpha T, x Vector[T]) error {
	c := h.begin(of[T](scal))
	c.put(x.N)
	putScalar(c, 0, alpha)
	putVector(c, "x", x)
	return c.end()
}

// Swap exchanges x and y.
func Swap[T Float](h *Handle, x, y Vector[T]) error { return two(h, of[T](swap), x, y) }

// Copy copies x to y.
func Copy[T Float](h *Handle, x, y Vector[T]) error { return two(h, of[T](vectorCopy), x, y) }

func two[T Float](h *Handle, f function, x, y Vector[T]) error {
	c := h.begin(f)
	c.same("lengths of x and y", x.N, y.N)
	c.put(x.N)
	putVector(c, "x", x)
	putVector(c, "y", y)
	return c.end()
}

// Dot stores the sum of the products of the elements of x and y in result, which has one element.
func Dot[T Float](h *Handle, x, y Vector[T], result device.Slice[T]) error {
	c := h.begin(of[T](dot))
	c.same("lengths of x and y", x.N, y.N)
	c.put(x.N)
	putVector(c, "x", x)
	putVector(c, "y", y)
	putResult(c, result)
	return c.end()
}

// Norm stores the Euclidean norm of x in result, which has one element.
func Norm[T Float](h *Handle, x Vector[T], result device.Slice[T]) error {
	return reduce(h, of[T](nrm2), x, result)
}

// Asum stores the sum of the magnitudes of the elements of x in result, which has one element.
func Asum[T Float](h *Handle, x Vector[T], result device.Slice[T]) error {
	return reduce(h, of[T](asum), x, result)
}

// Iamax finds the first element of x that has the largest magnitude, and stores its position in result, which has one
// element. Positions count from 1; if x is empty, the result is 0.
func Iamax[T Float](h *Handle, x Vector[T], result device.Slice[int64]) error {
	return reduce(h, of[T](iamax), x, result)
}

func reduce[T Float, R any](h *Handle, f function, x Vector[T], result device.Slice[R]) error {
	c := h.begin(f)
	c.put(x.N)
	putVector(c, "x", x)
	putResult(c, result)
	return c.end()
}
