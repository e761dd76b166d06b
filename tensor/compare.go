package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
)

// Equal compares elements of t and y. The result is a tensor of bools: whether the elements are equal. See Add for shapes, element types
// and mistakes. A comparison with NaN is false, except in NotEqual, where it is true.
func (t *Tensor) Equal(y *Tensor) *Tensor { return compare("Equal", array.Equal, t, y) }

// NotEqual returns whether the elements of t differ from those of y. See Equal.
func (t *Tensor) NotEqual(y *Tensor) *Tensor { return compare("NotEqual", array.NotEqual, t, y) }

// Less returns whether the elements of t are less than those of y. See Equal.
func (t *Tensor) Less(y *Tensor) *Tensor { return compare("Less", array.Less, t, y) }

// LessEqual returns whether the elements of t are less than or equal to those of y. See Equal.
func (t *Tensor) LessEqual(y *Tensor) *Tensor { return compare("LessEqual", array.LessEqual, t, y) }

// Greater returns whether the elements of t are greater than those of y. See Equal.
func (t *Tensor) Greater(y *Tensor) *Tensor { return compare("Greater", array.Greater, t, y) }

// GreaterEqual returns whether the elements of t are greater than or equal to those of y. See Equal.
func (t *Tensor) GreaterEqual(y *Tensor) *Tensor {
	return compare("GreaterEqual", array.GreaterEqual, t, y)
}

// compare compares broadcast operands.
func compare(name string, op array.Op, x, y *Tensor) *Tensor {
	s, err := scopeOf(name, []*Tensor{x, y})
	if err != nil {
		return failed(s, err)
	}
	of, err := common(x, y)
	if err != nil {
		return s.fail(mistake(name, err))
	}
	var r room
	shape, err := broadcast(r[:0], x.shape, y.shape)
	if err != nil {
		return s.fail(mistake(name, err))
	}
	return s.apply(name, op, shape, operands{x: x.inClass(of), y: y.inClass(of), out: dtype.Bool})
}

// Where returns the elements of x where condition, a tensor of bools, is true, and the elements of y elsewhere. See Add for shapes and
// element types. The mistake is ErrDType if condition is not a tensor of bools, and ErrShape if the shapes cannot be broadcast.
func Where(condition, x, y *Tensor) *Tensor {
	const name = "Where"
	list := []*Tensor{condition, x, y}
	s, err := scopeOf(name, list)
	if err != nil {
		return failed(s, err)
	}
	of, err := common(x, y)
	if err == nil && condition.dtype != dtype.Bool {
		err = fmt.Errorf("%w: a condition of %v", ErrDType, condition.dtype)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	var r room
	shape, err := broadcast(r[:0], x.shape, y.shape)
	if err == nil {
		shape, err = broadcast(nil, shape, condition.shape)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	list[1], list[2] = x.To(of), y.To(of)
	return s.choose(name, shape, list)
}

// choose chooses between two tensors of the same type.
func (s *Scope) choose(name string, shape []int, list []*Tensor) *Tensor {
	condition, x, y := list[0], list[1], list[2]
	if x.err != nil || y.err != nil {
		return s.fail(s.err)
	}
	out := s.empty(name, x.dtype, shape)
	if out.err != nil {
		return out
	}
	if err := array.Where(s.stream, shape, &array.Selection{Out: out.array(), Holds: condition.spread(nil, shape), X: x.spread(nil, shape), Y: y.spread(nil, shape)}); err != nil {
		return s.fail(mistake(name, err))
	}
	s.record(out, step{name: name, in: list, save: list[:1], back: func(d *Derivative) []*Tensor {
		zero := s.zeros(name, d.Grad.dtype, nil)
		return []*Tensor{nil, Where(d.Saved[0], d.Grad, zero), Where(d.Saved[0], zero, d.Grad)}
	}})
	return out
}
