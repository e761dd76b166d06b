package tensor

import (
	"fmt"
	"slices"
)

// view returns a tensor on t's memory, with the layout of l.
func (s *Scope) view(t *Tensor, l Tensor) *Tensor {
	t.memory.views++
	return s.add(&Tensor{memory: t.memory, dtype: t.dtype, shape: slices.Clone(l.shape), strides: slices.Clone(l.strides), offset: l.offset})
}

// Reshape returns t's elements in another shape, which has as many. One size may be -1, and is computed. The result is a view if t is
// contiguous, and a copy otherwise.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	const op = "Reshape"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	shape, err = inferred(shape, t.Len())
	if err != nil {
		return s.fail(mistake(op, fmt.Errorf("%w for %v", err, t.shape)))
	}
	c := t.Contiguous()
	if c.err != nil {
		return c
	}
	return s.view(c, Tensor{shape: shape, strides: rowMajor(shape), offset: c.offset})
}

// inferred returns shape with -1 replaced so that it has n elements.
func inferred(shape []int, n int) ([]int, error) {
	shape = slices.Clone(shape)
	unknown, known := -1, 1
	for i, d := range shape {
		switch {
		case d == -1 && unknown < 0:
			unknown = i
		case d < 0:
			return nil, fmt.Errorf("%w: %v", ErrShape, shape)
		default:
			known *= d
		}
	}
	if unknown >= 0 && known > 0 && n%known == 0 {
		shape[unknown] = n / known
		known = n
	}
	if known != n || unknown >= 0 && shape[unknown] < 0 {
		return nil, fmt.Errorf("%w: %v", ErrShape, shape)
	}
	return shape, nil
}

// Slice returns the view of indices from to to-1 of a dimension. A negative dim counts from the end.
func (t *Tensor) Slice(dim, from, to int) *Tensor {
	const op = "Slice"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	if dim < 0 {
		dim += len(t.shape)
	}
	if dim < 0 || dim >= len(t.shape) || from < 0 || to < from || to > t.shape[dim] {
		return s.fail(mistake(op, fmt.Errorf("%w: indices %d to %d of dimension %d of %v", ErrValue, from, to, dim, t.shape)))
	}
	l := Tensor{shape: slices.Clone(t.shape), strides: t.strides, offset: t.offset + from*t.strides[dim]}
	l.shape[dim] = to - from
	return s.view(t, l)
}

// Transpose returns the view with two dimensions exchanged. Negative ones count from the end.
func (t *Tensor) Transpose(a, b int) *Tensor {
	const op = "Transpose"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	n := len(t.shape)
	if a < 0 {
		a += n
	}
	if b < 0 {
		b += n
	}
	if min(a, b) < 0 || max(a, b) >= n {
		return s.fail(mistake(op, fmt.Errorf("%w: dimensions %d and %d of %v", ErrValue, a, b, t.shape)))
	}
	l := Tensor{shape: slices.Clone(t.shape), strides: slices.Clone(t.strides), offset: t.offset}
	l.shape[a], l.shape[b] = l.shape[b], l.shape[a]
	l.strides[a], l.strides[b] = l.strides[b], l.strides[a]
	return s.view(t, l)
}

// T returns the view with the last two dimensions exchanged.
func (t *Tensor) T() *Tensor { return t.Transpose(-2, -1) }

// failed returns a void tensor of s, which may be nil.
func failed(s *Scope, err error) *Tensor {
	if s == nil {
		return &Tensor{err: err}
	}
	return s.fail(err)
}
