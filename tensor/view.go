package tensor

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
)

// view returns a tensor on t's memory, with the layout of l.
func (s *Scope) view(t *Tensor, l Tensor) *Tensor {
	t.memory.views++
	v := sized(len(l.shape))
	v.memory, v.dtype, v.offset = t.memory, t.dtype, l.offset
	copy(v.shape, l.shape)
	copy(v.strides, l.strides)
	return s.add(v)
}

// viewed records a view, whose derivative back returns.
func (s *Scope) viewed(name string, t, v *Tensor, back func(g *Tensor) *Tensor) *Tensor {
	if s.recording(t, nil) {
		s.record(v, step{name: name, in: []*Tensor{t}, back: func(d *Derivative) []*Tensor { return []*Tensor{back(d.Grad)} }})
	}
	return v
}

// Reshape returns t's elements in another shape with the same number of elements. One size may be -1; Reshape then computes this size. The
// result is a view if t is contiguous, and a copy otherwise. The result has the element type of t. The mistake is ErrShape if the numbers
// of elements differ.
func (t *Tensor) Reshape(shape ...int) *Tensor {
	const op = "Reshape"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	var r room
	list, err := inferred(r[:0], shape, t.Len())
	if err != nil {
		return s.fail(mistake(op, fmt.Errorf("%w for %v", err, t.shape)))
	}
	c := t.Contiguous()
	if c.err != nil {
		return c
	}
	v := s.view(c, Tensor{shape: list, offset: c.offset})
	fillRowMajor(v.strides, v.shape)
	if s.recording(c, nil) {
		from := c.shape
		s.viewed(op, c, v, func(g *Tensor) *Tensor { return g.Reshape(from...) })
	}
	return v
}

// inferred appends shape to to, with -1 replaced so that it has n elements.
func inferred(to, shape []int, n int) ([]int, error) {
	shape = append(to, shape...)
	unknown, known := -1, 1
	for i, d := range shape {
		switch {
		case d == -1 && unknown < 0:
			unknown = i
		case d < 0:
			return nil, fmt.Errorf("%w: %v", ErrShape, slices.Clone(shape)) // a copy, so that shape does not escape
		default:
			known *= d
		}
	}
	if unknown >= 0 && known > 0 && n%known == 0 {
		shape[unknown] = n / known
		known = n
	}
	if known != n || unknown >= 0 && shape[unknown] < 0 {
		return nil, fmt.Errorf("%w: %v", ErrShape, slices.Clone(shape))
	}
	return shape, nil
}

// Slice returns the view of the elements with the indices start, start+1, ..., end-1 along dimension dim. A negative dim counts from the
// end. The result has the element type of t. The mistake is ErrValue if the dimension or an index is out of range.
func (t *Tensor) Slice(dim, start, end int) *Tensor {
	const op = "Slice"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	if dim < 0 {
		dim += len(t.shape)
	}
	if dim < 0 || dim >= len(t.shape) || start < 0 || end < start || end > t.shape[dim] {
		return s.fail(mistake(op, fmt.Errorf("%w: indices %d to %d of dimension %d of %v", ErrValue, start, end, dim, t.shape)))
	}
	v := s.view(t, *t)
	v.shape[dim] = end - start
	if v.Len() > 0 { // otherwise the offset could be outside the memory
		v.offset = t.offset + start*t.strides[dim]
	}
	if s.recording(t, nil) {
		back := slope{of: t.dtype, shape: t.shape, dim: dim, from: start}
		s.viewed(op, t, v, func(g *Tensor) *Tensor { return back.whole(s, g) })
	}
	return v
}

// slope is the derivative of Slice: an array of zeros with a part that has other elements.
type slope struct {
	of        dtype.Type
	shape     []int
	dim, from int // where the part begins
}

// whole returns the derivative, given that with respect to the part.
func (d slope) whole(s *Scope, part *Tensor) *Tensor {
	const op = "Slice"
	whole := s.zeros(op, d.of, d.shape)
	if whole.err != nil || part.err != nil {
		return whole
	}
	to := whole.array()
	to.Offset = d.from * whole.strides[d.dim]
	if err := array.Move(s.stream, part.shape, to, part.array()); err != nil {
		return s.fail(mistake(op, err))
	}
	return whole
}

// Transpose returns a view with two dimensions exchanged. Negative dimensions count from the end. The result has the element type of t. The
// mistake is ErrValue if there are no such dimensions.
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
	v := s.view(t, *t)
	v.shape[a], v.shape[b] = v.shape[b], v.shape[a]
	v.strides[a], v.strides[b] = v.strides[b], v.strides[a]
	if s.recording(t, nil) {
		from, to := a, b
		s.viewed(op, t, v, func(g *Tensor) *Tensor { return g.Transpose(from, to) })
	}
	return v
}

// T returns a view with the last two dimensions exchanged. See Transpose for element types and mistakes.
func (t *Tensor) T() *Tensor { return t.Transpose(-2, -1) }

// Expand returns a view of t, broadcast to a shape: dimensions are aligned from the last, and a dimension that is missing or has size 1 is
// repeated, with stride 0. The result has the element type of t. The mistake is ErrShape if t cannot be broadcast to the shape.
func (t *Tensor) Expand(shape ...int) *Tensor {
	const op = "Expand"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	whole, err := broadcast(nil, t.shape, shape)
	if err == nil {
		_, err = product(shape)
	}
	if err != nil || !equal(whole, shape) {
		return s.fail(mistake(op, fmt.Errorf("%w: %v to %v", ErrShape, t.shape, shape)))
	}
	v := s.view(t, Tensor{shape: shape, strides: t.repeated(nil, shape), offset: t.offset})
	return s.viewed(op, t, v, func(g *Tensor) *Tensor { return g }) // Backward sums
}

// Unsqueeze returns a view with an additional dimension of size 1, at dimension dim of the result. A negative dim counts from the end of
// the result's dimensions. The result has the element type of t. The mistake is ErrValue if there is no such dimension.
func (t *Tensor) Unsqueeze(dim int) *Tensor {
	const op = "Unsqueeze"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	if dim < 0 {
		dim += len(t.shape) + 1
	}
	if dim < 0 || dim > len(t.shape) {
		return s.fail(mistake(op, fmt.Errorf("%w: dimension %d of %v", ErrValue, dim, t.shape)))
	}
	l := Tensor{shape: slices.Insert(slices.Clone(t.shape), dim, 1), strides: slices.Insert(slices.Clone(t.strides), dim, 0), offset: t.offset}
	return s.viewed(op, t, s.view(t, l), func(g *Tensor) *Tensor { return g.Squeeze(dim) })
}

// Squeeze returns a view without dimension dim. The size of this dimension must be 1. A negative dim counts from the end. The result has
// the element type of t. The mistake is ErrShape if the size is not 1, and ErrValue if there is no such dimension.
func (t *Tensor) Squeeze(dim int) *Tensor {
	const op = "Squeeze"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	at, err := dimension(dim, t.shape)
	if err == nil && t.shape[at] != 1 {
		err = fmt.Errorf("%w: dimension %d of %v", ErrShape, dim, t.shape)
	}
	if err != nil {
		return s.fail(mistake(op, err))
	}
	l := Tensor{shape: slices.Delete(slices.Clone(t.shape), at, at+1), strides: slices.Delete(slices.Clone(t.strides), at, at+1), offset: t.offset}
	return s.viewed(op, t, s.view(t, l), func(g *Tensor) *Tensor { return g.Unsqueeze(at) })
}

// dimension returns the number of a dimension, of which a negative one counts from the end.
func dimension(dim int, shape []int) (int, error) {
	at := dim
	if at < 0 {
		at += len(shape)
	}
	if at < 0 || at >= len(shape) {
		return 0, fmt.Errorf("%w: dimension %d of %v", ErrValue, dim, shape)
	}
	return at, nil
}

// failed returns a void tensor of s, which may be nil.
func failed(s *Scope, err error) *Tensor {
	if s == nil {
		return &Tensor{err: err}
	}
	return s.fail(err)
}
