package tensor

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
)

// Concat joins tensors along a dimension. In all other dimensions, the tensors must have the same sizes; else the mistake is ErrShape.
// Concat combines element types as Add does. A negative dim counts from the end. The mistake is ErrValue if there is no such dimension.
func Concat(dim int, list ...*Tensor) *Tensor { return concat("Concat", dim, list) }

// Stack joins tensors of the same shape along a new dimension, which becomes dimension dim of the result. See Concat for element types and
// mistakes.
func Stack(dim int, list ...*Tensor) *Tensor {
	const name = "Stack"
	s, err := scopeOf(name, list)
	if err != nil {
		return failed(s, err)
	}
	rows := make([]*Tensor, len(list))
	for i, t := range list {
		if !equal(t.shape, list[0].shape) {
			return s.fail(mistake(name, fmt.Errorf("%w: %v and %v", ErrShape, list[0].shape, t.shape)))
		}
		if rows[i] = s.own(t).Unsqueeze(dim); rows[i].err != nil {
			return rows[i]
		}
	}
	return concat(name, dim, rows)
}

// concat joins tensors along a dimension.
func concat(name string, dim int, list []*Tensor) *Tensor {
	s, err := scopeOf(name, list)
	if err != nil {
		return failed(s, err)
	}
	first := list[0]
	at, err := dimension(dim, first.shape)
	if err != nil {
		return s.fail(mistake(name, err))
	}
	list = slices.Clone(list)
	shape, of, total := slices.Clone(first.shape), first.dtype, 0
	for _, t := range list {
		if len(t.shape) != len(shape) {
			return s.fail(mistake(name, fmt.Errorf("%w: %v and %v", ErrShape, first.shape, t.shape)))
		}
		total += t.shape[at]
		shape[at] = t.shape[at]
		if !equal(shape, t.shape) {
			return s.fail(mistake(name, fmt.Errorf("%w: %v and %v along dimension %d", ErrShape, first.shape, t.shape, at)))
		}
		if t.dtype != of {
			if of, err = common(&Tensor{dtype: of}, t); err != nil {
				return s.fail(mistake(name, err))
			}
		}
	}
	for i, t := range list {
		if t.dtype != of {
			list[i] = t.To(of)
		}
	}
	shape[at] = total
	return s.joined(name, list, at, shape)
}

// joined copies tensors to a new one.
func (s *Scope) joined(name string, list []*Tensor, at int, shape []int) *Tensor {
	out := s.empty(name, list[0].dtype, shape)
	if out.err != nil {
		return out
	}
	starts := make([]int, len(list)+1)
	for i, t := range list {
		if t.err != nil {
			return t
		}
		part := out.array()
		part.Offset = starts[i] * out.strides[at]
		starts[i+1] = starts[i] + t.shape[at]
		if err := array.Move(s.stream, t.shape, part, t.array()); err != nil {
			return s.fail(mistake(name, err))
		}
	}
	s.record(out, step{name: name, in: list, back: func(d *Derivative) []*Tensor {
		parts := make([]*Tensor, len(d.Wanted))
		for i, wanted := range d.Wanted {
			if wanted {
				parts[i] = d.Grad.Slice(at, starts[i], starts[i+1])
			}
		}
		return parts
	}})
	return out
}
