package array

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// Operands are the operands of Apply: Out = Op(X, Y). All have the same shape; the strides of a dimension along which an operand is
// repeated are 0. X and Y have types of one class, and Out too or, for comparisons, booleans. If Y has no type, Scalar takes its place.
type Operands struct {
	Op        Op
	X, Y, Out Array
	Scalar    float64 // of integers an integer
}

// Apply stores the result of an operation for each element.
func Apply(s *device.Stream, shape []int, x *Operands) error {
	class := ClassOf(x.X.Type)
	if class == None || x.Y.Type != dtype.Invalid && ClassOf(x.Y.Type) != class || x.Out.Type != dtype.Bool && ClassOf(x.Out.Type) != class {
		return fmt.Errorf("%w: %v and %v to %v", ErrType, x.X.Type, x.Y.Type, x.Out.Type)
	}
	p, err := placesOf(shape, &x.X, &x.Y, &x.Out)
	if err != nil || p.N == 0 {
		return err
	}
	if class == Single && x.swappable() {
		x.X, x.Y = x.Y, x.X
		p.A, p.B = p.B, p.A
		p.Offset[0], p.Offset[1] = p.Offset[1], p.Offset[0]
	}
	w := work{Op: x.Op, X: x.X.Type, Y: x.Y.Type, Out: x.Out.Type, Scalar: x.Scalar, Integer: int64(x.Scalar)}
	switch class {
	case Integer:
		return x.integers(s, w, p)
	case Double:
		return General64(s, blocksFor(s, p.N), elements[float64](&x.X), elements[float64](&x.Y), elements[float64](&x.Out), x.truths(), w, p)
	}
	if done, err := x.wide(s, p); done {
		return err
	}
	if done, err := x.mixed(s, p); done {
		return err
	}
	if r, ok := x.flat(p); ok && x.single() {
		return x.flat32(s, p, r)
	}
	return General32(s, blocksFor(s, p.N), elements[uint16](&x.X), elements[uint16](&x.Y), elements[uint16](&x.Out),
		elements[float32](&x.X), elements[float32](&x.Y), elements[float32](&x.Out), x.truths(), w, p)
}

// swappable reports whether the operands may change places, and Y is the one that is not repeated.
func (x *Operands) swappable() bool {
	if x.Y.Type == dtype.Invalid || x.Op != Add && x.Op != Mul {
		return false
	}
	a, b := 0, 0
	for i := range x.X.Strides {
		a, b = a+min(x.X.Strides[i], 1), b+min(x.Y.Strides[i], 1)
	}
	return a < b
}

// truths returns the memory of booleans.
func (x *Operands) truths() device.Slice[uint8] {
	if x.Out.Type == dtype.Bool {
		return elements[uint8](&x.Out)
	}
	return device.None[uint8]()
}

// integers launches generalInt.
func (x *Operands) integers(s *device.Stream, w work, p places) error {
	return GeneralInt(s, blocksFor(s, p.N), elements[uint8](&x.X), elements[uint8](&x.Y), elements[uint8](&x.Out),
		elements[int32](&x.X), elements[int32](&x.Y), elements[int32](&x.Out),
		elements[int64](&x.X), elements[int64](&x.Y), elements[int64](&x.Out), w, p)
}

// single reports whether flat32 computes the operation on elements of these types.
func (x *Operands) single() bool {
	return x.Op.cheap() && x.X.Type == dtype.Float32 && x.Out.Type == dtype.Float32 && (x.Y.Type == dtype.Float32 || x.Y.Type == dtype.Invalid)
}

// flat reports whether x and out are contiguous, and y too or repeated.
func (x *Operands) flat(p places) (repeated, bool) {
	r := repeated{inner: 1, period: 1}
	next := uint32(1)
	for d := range p.Count {
		n := p.Size[d]
		if p.A[d] != next || p.C[d] != next {
			return r, false
		}
		next *= n
		switch {
		case p.B[d] == 0 && r.period == 1:
			r.inner *= n
		case p.B[d] == 0:
			r.over = true
		case p.B[d] == r.period && !r.over:
			r.period *= n
		default:
			return r, false
		}
	}
	return r, true
}

// repeated is how a smaller y is repeated: each of its period elements for inner neighbours, from the beginning again at its end.
type repeated struct {
	inner, period uint32
	over          bool
}

// flat32 launches flat32.
func (x *Operands) flat32(s *device.Stream, p places, r repeated) error {
	part := func(a *Array, n uint32) device.Slice[float32] {
		return elements[float32](a).Slice(a.Offset, a.Offset+int(n))
	}
	y := device.None[float32]()
	if x.Y.Type != dtype.Invalid {
		y = part(&x.Y, r.period)
	}
	return Flat32(s, device.Cover(int(p.N), block), part(&x.X, p.N), y, part(&x.Out, p.N), x.Op, float32(x.Scalar), r.inner)
}
