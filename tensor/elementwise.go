package tensor

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
)

// Add returns the sums of the elements of t and y. As in all operations on two tensors, shapes are broadcast as in NumPy: dimensions are
// aligned from the last, and a dimension that is missing or has size 1 is repeated. If the element types differ, both operands are converted
// to the float type or, if both or neither are floats, to the type with more bits. F16 and BF16 together become float32. The mistake is
// ErrShape if the shapes cannot be broadcast.
func (t *Tensor) Add(y *Tensor) *Tensor { return pairwise("Add", array.Add, t, y) }

// Sub returns the differences of elements. See Add for shapes, element types and mistakes.
func (t *Tensor) Sub(y *Tensor) *Tensor { return pairwise("Sub", array.Sub, t, y) }

// Mul returns the products of elements. See Add for shapes, element types and mistakes.
func (t *Tensor) Mul(y *Tensor) *Tensor { return pairwise("Mul", array.Mul, t, y) }

// Div returns the quotients of elements. Quotients of integers are float32. See Add for shapes, element types and mistakes.
func (t *Tensor) Div(y *Tensor) *Tensor { return pairwise("Div", array.Div, t, y) }

// Pow raises each element of t to the power of the corresponding element of y. See Add for shapes, element types and mistakes. An integer
// other than 1 and -1, raised to a negative power, gives 0.
func (t *Tensor) Pow(y *Tensor) *Tensor { return pairwise("Pow", array.Pow, t, y) }

// Maximum returns the greater of each two elements, or NaN if one of them is NaN. See Add for shapes, element types and mistakes.
func (t *Tensor) Maximum(y *Tensor) *Tensor { return pairwise("Maximum", array.Maximum, t, y) }

// Minimum returns the smaller of each two elements, or NaN if one of them is NaN. See Add for shapes, element types and mistakes.
func (t *Tensor) Minimum(y *Tensor) *Tensor { return pairwise("Minimum", array.Minimum, t, y) }

// pairwise applies an operation to broadcast operands.
func pairwise(name string, op array.Op, x, y *Tensor) *Tensor {
	s, err := scopeOf(name, []*Tensor{x, y})
	if err != nil {
		return failed(s, err)
	}
	of, err := common(x, y)
	if err != nil {
		return s.fail(mistake(name, err))
	}
	if op == array.Div && !isFloat(of) {
		of = dtype.Float32
	}
	var r room
	shape, err := broadcast(r[:0], x.shape, y.shape)
	if err != nil {
		return s.fail(mistake(name, err))
	}
	x, y = x.inClass(of), y.inClass(of)
	out := s.apply(name, op, shape, operands{x: x, y: y, out: of})
	if out.err == nil && s.recording(x, y) {
		o := step{name: name, in: []*Tensor{x, y}, back: backOf(op), saveResult: op == array.Div || op == array.Pow}
		if op != array.Add && op != array.Sub {
			o.save = o.in
		}
		s.record(out, o)
	}
	return out
}

// operands are those of an elementwise operation, which are broadcast. Without y, scalar takes its place.
type operands struct {
	x, y   *Tensor
	scalar float64
	out    dtype.Type
}

// apply returns the result of an elementwise operation.
func (s *Scope) apply(name string, op array.Op, shape []int, o operands) *Tensor {
	if o.x.err != nil || o.y != nil && o.y.err != nil {
		return s.fail(s.err)
	}
	out := s.empty(name, o.out, shape)
	if out.err != nil {
		return out
	}
	a := array.Operands{Op: op, X: o.x.spread(s.strides[0][:0], shape), Out: out.array(), Scalar: o.scalar}
	if o.y != nil {
		a.Y = o.y.spread(s.strides[1][:0], shape)
	}
	if err := array.Apply(s.stream, shape, &a); err != nil {
		return s.fail(mistake(name, err))
	}
	return out
}

// array returns t for kernels.
func (t *Tensor) array() array.Array {
	return array.Array{Bytes: t.memory.bytes, Type: t.dtype, Strides: t.strides, Offset: t.offset}
}

// spread returns t for kernels, broadcast to a shape. It appends new strides to to.
func (t *Tensor) spread(to, shape []int) array.Array {
	a := t.array()
	if !equal(t.shape, shape) {
		a.Strides = t.repeated(to, shape)
	}
	return a
}

// repeated appends to to the strides of t in a shape to which it is broadcast.
func (t *Tensor) repeated(to, shape []int) []int {
	more := len(shape) - len(t.shape)
	for i := range shape {
		stride := 0
		if i >= more && t.shape[i-more] != 1 {
			stride = t.strides[i-more]
		}
		to = append(to, stride)
	}
	return to
}

// broadcast appends to to the shape to which two shapes are broadcast.
func broadcast(to, x, y []int) ([]int, error) {
	if len(x) < len(y) {
		x, y = y, x
	}
	shape := append(to, x...)
	more := len(x) - len(y)
	for i, n := range y {
		switch m := &shape[more+i]; {
		case *m == n || n == 1:
		case *m == 1:
			*m = n
		default:
			return nil, fmt.Errorf("%w: %v and %v", ErrShape, slices.Clone(x), slices.Clone(y))
		}
	}
	return shape, nil
}

// equal reports whether shapes are the same.
func equal(x, y []int) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// backOf returns the derivative of an operation on two tensors.
func backOf(op array.Op) func(d *Derivative) []*Tensor {
	return func(d *Derivative) []*Tensor {
		list := make([]*Tensor, 2)
		if d.Wanted[0] {
			list[0] = slopeX(op, d)
		}
		if d.Wanted[1] {
			list[1] = slopeY(op, d)
		}
		return list
	}
}

// slopeX returns the derivative with respect to the broadcast first operand.
func slopeX(op array.Op, d *Derivative) *Tensor {
	g := d.Grad
	if op == array.Add || op == array.Sub {
		return g
	}
	x, y := d.Saved[0], d.Saved[1]
	switch op {
	case array.Mul:
		return g.Mul(y)
	case array.Div:
		return g.Div(y)
	case array.Pow:
		return g.Mul(pairwise("Pow", array.PowBack, x, y))
	case array.Maximum:
		return g.Mul(pairwise("Maximum", array.Prefer, x, y))
	}
	return g.Mul(pairwise("Minimum", array.Prefer, y, x)) // of Minimum
}

// slopeY returns the derivative with respect to the broadcast second operand.
func slopeY(op array.Op, d *Derivative) *Tensor {
	g := d.Grad
	switch op {
	case array.Add:
		return g
	case array.Sub:
		return g.Neg()
	}
	x, y := d.Saved[0], d.Saved[1]
	switch op {
	case array.Mul:
		return g.Mul(x)
	case array.Div:
		return g.Mul(d.Result).Div(y).Neg()
	case array.Pow:
		return g.Mul(pairwise("Pow", array.TimesLog, d.Result, x))
	case array.Maximum:
		return g.Mul(pairwise("Maximum", array.Prefer, y, x))
	}
	return g.Mul(pairwise("Minimum", array.Prefer, x, y)) // of Minimum
}
