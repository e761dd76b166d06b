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
	w := work{Op: x.Op, X: x.X.Type, Y: x.Y.Type, Out: x.Out.Type, Scalar: x.Scalar, Integer: int64(x.Scalar)}
	switch class {
	case Integer:
		return x.integers(s, w, p)
	case Double:
		return General64(s, blocks(p.N), elements[float64](&x.X), elements[float64](&x.Y), elements[float64](&x.Out), x.truths(), w, p)
	}
	if x.flat(p) {
		return x.flat32(s, p)
	}
	return General32(s, blocks(p.N), elements[uint16](&x.X), elements[uint16](&x.Y), elements[uint16](&x.Out),
		elements[float32](&x.X), elements[float32](&x.Y), elements[float32](&x.Out), x.truths(), w, p)
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
	return GeneralInt(s, blocks(p.N), elements[uint8](&x.X), elements[uint8](&x.Y), elements[uint8](&x.Out),
		elements[int32](&x.X), elements[int32](&x.Y), elements[int32](&x.Out),
		elements[int64](&x.X), elements[int64](&x.Y), elements[int64](&x.Out), w, p)
}

// flat reports whether flat32 can compute the operation.
func (x *Operands) flat(p places) bool {
	if !x.Op.cheap() || x.X.Type != dtype.Float32 || x.Out.Type != dtype.Float32 || x.Y.Type != dtype.Float32 && x.Y.Type != dtype.Invalid {
		return false
	}
	return p.Count == 0 || p.Count == 1 && p.A[0] == 1 && p.C[0] == 1 && (p.B[0] == 1 || x.Y.Type == dtype.Invalid)
}

// flat32 launches flat32.
func (x *Operands) flat32(s *device.Stream, p places) error {
	part := func(a *Array) device.Slice[float32] {
		return elements[float32](a).Slice(a.Offset, a.Offset+int(p.N))
	}
	y := device.None[float32]()
	if x.Y.Type != dtype.Invalid {
		y = part(&x.Y)
	}
	return Flat32(s, device.Cover(int(p.N), block), part(&x.X), y, part(&x.Out), x.Op, float32(x.Scalar))
}
