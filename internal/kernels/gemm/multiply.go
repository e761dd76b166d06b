package gemm

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Operands are the matrices of a product and what follows it: C = activation(op(A) op(B) + bias) + residual.
type Operands[T, W, C any] struct {
	A device.Slice[T]
	B device.Slice[W]
	C device.Slice[C] // overwritten
	// Residual has the shape of C. It may be C itself, which accumulates, or empty.
	Residual device.Slice[C]
	Bias     device.Slice[float32] // one element for each column of op(B), or empty
	// Activation is applied before the residual is added.
	Activation Activation
	// Weights says that no kernel writes to B that may still be running, in stream order: it holds weights. The product may then load
	// B before the preceding kernel is done.
	Weights bool
	// Workspace has the number of elements that the function Workspace returns; it is overwritten. A shorter one makes products of
	// some shapes slower.
	Workspace device.Slice[float32]
}

// Float32 computes products of float32 matrices.
func Float32(s *device.Stream, shape Shape, x Operands[float32, float32, float32]) error {
	shape = shape.complete(x.width(shape))
	if err := x.check(shape); err != nil || shape.M == 0 || shape.N == 0 {
		return err
	}
	x = x.filled()
	if s.Device().Info().Kind != "cpu" {
		q := tileOf(shape, x.width(shape), x.Activation, squareTile)
		return Square(s, device.Blocks{X: ceil(q.Width, q.Span), Y: ceil(q.M, squareTile)}, x.A, x.B, x.C, x.Residual, x.Bias, q)
	}
	blocks, w := walkOf(s, shape, x.Activation)
	if shape.Layout == NT {
		return BlockedNT(s, blocks, x.A, x.B, x.C, x.Residual, x.Bias, w)
	}
	return BlockedNN(s, blocks, x.A, x.B, x.C, x.Residual, x.Bias, w)
}

// Weights computes products of a float32 matrix and the transpose of a bfloat16 matrix; the layout must be NT.
func Weights(s *device.Stream, shape Shape, x Operands[float32, dtype.BF16, float32]) error {
	if shape.Layout != NT {
		return fmt.Errorf("%w: bfloat16 weights are not supported for layout %v", ErrShape, shape.Layout)
	}
	shape = shape.complete(x.width(shape))
	if err := x.check(shape); err != nil || shape.M == 0 || shape.N == 0 {
		return err
	}
	x = x.filled()
	blocks, w := walkOf(s, shape, x.Activation)
	return BlockedNTBF16(s, blocks, x.A, x.B, x.C, x.Residual, x.Bias, w)
}

// width returns the number of columns of C.
func (x Operands[T, W, C]) width(s Shape) int {
	if x.Activation == SwiGLU {
		return s.N / 2
	}
	return s.N
}

// filled returns x with empty slices for operands that are absent.
func (x Operands[T, W, C]) filled() Operands[T, W, C] {
	if x.Residual == (device.Slice[C]{}) {
		x.Residual = device.None[C]()
	}
	if x.Bias == (device.Slice[float32]{}) {
		x.Bias = device.None[float32]()
	}
	return x
}

// check reports whether the operands fit a complete shape.
func (x Operands[T, W, C]) check(s Shape) error {
	if x.Activation < None || x.Activation > SwiGLU {
		return fmt.Errorf("%w: activation %d", ErrShape, x.Activation)
	}
	if x.Activation == SwiGLU && s.N%2 != 0 {
		return fmt.Errorf("%w: SwiGLU of %d columns", ErrShape, s.N)
	}
	if err := s.check(x.width(s), [3]int{x.A.Len(), x.B.Len(), x.C.Len()}); err != nil {
		return err
	}
	if n := x.Bias.Len(); n != 0 && n != s.N {
		return fmt.Errorf("%w: a bias of %d elements for %d columns", ErrShape, n, s.N)
	}
	if n := x.Residual.Len(); n != 0 && n != x.C.Len() {
		return fmt.Errorf("%w: a residual of %d elements for %d of C", ErrShape, n, x.C.Len())
	}
	return nil
}

// walkOf returns the grid and the arguments of blocked for a complete shape. Tiles are as tall as possible, since each packs its part
// of B again, but there are at least two for each core.
func walkOf(s *device.Stream, shape Shape, a Activation) (device.Blocks, walk) {
	w := walk{M: shape.M, N: shape.N, K: shape.K, A: operand{shape.LDA, 1}, LDB: shape.LDB, LDC: shape.LDC, Activation: a}
	w.Width, w.Columns, w.Second = shape.N, across, lanes
	if a == SwiGLU {
		w.Width, w.Columns, w.Second = shape.N/2, lanes, shape.N/2
	}
	if shape.Layout == TN {
		w.A = operand{1, shape.LDA}
	}
	columns := ceil(w.Width, w.Columns)
	w.Rows = tall
	for w.Rows > 4*strip && columns*ceil(shape.M, w.Rows) < 2*s.Device().Info().Cores {
		w.Rows /= 2
	}
	return device.Blocks{X: columns, Y: ceil(shape.M, w.Rows)}, w
}

// ceil returns the number of parts of a size that cover n elements.
func ceil(n, size int) int { return (n + size - 1) / size }
