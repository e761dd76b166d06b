package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
)

// To converts the elements to another type: bool, uint8, int32, int64 or a float type. It returns t if t has this type. A conversion to a
// float type rounds to nearest even. A conversion from a float to an integer truncates; a number out of range becomes the nearest integer
// of the type, and NaN becomes 0. A conversion between integer types keeps the low bits. A conversion to bool yields true for every number
// except 0. The result has the shape of t. The mistake is ErrDType for other types.
func (t *Tensor) To(of dtype.Type) *Tensor {
	const name = "To"
	s, err := scopeOf(name, []*Tensor{t})
	if err != nil {
		return failed(s, err)
	}
	if t.dtype == of {
		return t
	}
	if err := computable(of, t.dtype); err != nil {
		return s.fail(mistake(name, err))
	}
	out := s.empty(name, of, t.shape)
	if out.err != nil {
		return out
	}
	if array.ClassOf(of) == array.Single && array.ClassOf(t.dtype) == array.Single {
		x := array.Operands{Op: array.Copy, X: t.array(), Out: out.array()}
		err = array.Apply(s.stream, t.shape, &x)
	} else {
		err = array.Convert(s.stream, t.shape, out.array(), t.array())
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	s.record(out, step{name: name, in: []*Tensor{t}, back: func(d *Derivative) []*Tensor { return []*Tensor{d.Grad} }})
	return out
}

// inClass returns t with elements that kernels can compute with in the arithmetic for a type.
func (t *Tensor) inClass(of dtype.Type) *Tensor {
	if array.ClassOf(t.dtype) == array.ClassOf(of) {
		return t
	}
	return t.To(of)
}

// isFloat reports whether a type is one of floats that operations compute with.
func isFloat(t dtype.Type) bool { return array.ClassOf(t) > array.Integer }

// computable returns an error if operations do not compute with a type.
func computable(types ...dtype.Type) error {
	for _, t := range types {
		if array.ClassOf(t) == array.None {
			return fmt.Errorf("%w: no operation on %v", ErrDType, t)
		}
	}
	return nil
}

// rank orders the types by what they hold.
func rank(t dtype.Type) int {
	switch t {
	case dtype.Float64:
		return 6
	case dtype.Float32:
		return 5
	case dtype.Float16, dtype.BFloat16:
		return 4
	case dtype.Int64:
		return 3
	case dtype.Int32:
		return 2
	case dtype.Uint8:
		return 1
	}
	return 0
}

// common returns the type of the result of an operation on two tensors.
func common(x, y *Tensor) (dtype.Type, error) {
	a, b := x.dtype, y.dtype
	if err := computable(a, b); err != nil {
		return dtype.Invalid, err
	}
	switch i, j := rank(a), rank(b); {
	case a == b || i > j:
		return a, nil
	case i < j:
		return b, nil
	}
	return dtype.Float32, nil // float16 and bfloat16
}
