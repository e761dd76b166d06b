package tensor

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/rope"
)

// Angles returns the angles by which Rotate rotates tokens. Positions are int32; frequencies are a float32 tensor of one dimension. For each
// position p, the result has cos(p*f) for all frequencies f, and then sin(p*f) for all f, as float32. The mistake is ErrDType or ErrShape for
// other types or shapes of the arguments.
func Angles(positions, frequencies *Tensor) *Tensor {
	const name = "Angles"
	s, err := scopeOf(name, []*Tensor{positions, frequencies})
	switch {
	case err != nil:
		return failed(s, err)
	case positions.dtype != dtype.Int32 || frequencies.dtype != dtype.Float32:
		err = fmt.Errorf("%w: positions of %v, frequencies of %v", ErrDType, positions.dtype, frequencies.dtype)
	case len(frequencies.shape) != 1:
		err = fmt.Errorf("%w: frequencies of %v", ErrShape, frequencies.shape)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	in := []*Tensor{positions.Contiguous(), frequencies.Contiguous()}
	shape := append(slices.Clone(positions.shape), 2*frequencies.shape[0])
	return Op{Name: name, In: in, DType: dtype.Float32, Shape: shape, Launch: func(s *device.Stream, out *Tensor) error {
		return rope.Angles(s, elements[int32](in[0]), elements[float32](in[1]), elements[float32](out))
	}}.Apply()
}

// Rotate rotates pairs of elements of t, floats of shape [... tokens heads dim] (Su et al., "RoFormer: Enhanced Transformer with Rotary
// Position Embedding"). angles has the shape [tokens 2n] or [... tokens 2n]: for each token, n cosines and then n sines, as Angles returns
// them. Angle i rotates the elements i and n+i of every head of the token. Elements from 2n on do not change. The result has the shape and
// the element type of t. Rotate has no derivative with respect to the angles. The mistake is ErrDType or ErrShape if the angles do not fit
// t.
func (t *Tensor) Rotate(angles *Tensor) *Tensor {
	const name = "Rotate"
	s, err := scopeOf(name, []*Tensor{t, angles})
	if err != nil {
		return failed(s, err)
	}
	if err := checkRotate(t, angles); err != nil {
		return s.fail(mistake(name, err))
	}
	t = s.own(t)
	angles = s.own(angles).Expand(append(slices.Clone(t.shape[:len(t.shape)-2]), angles.Dim(-1))...)
	if t.dtype == dtype.Float64 {
		return plainRotate(t, angles.To(dtype.Float64))
	}
	return s.rotate(name, t, angles.To(dtype.Float32).Contiguous(), false)
}

// checkRotate returns the mistake in the operands of Rotate.
func checkRotate(t, angles *Tensor) error {
	n := len(t.shape) - 2
	switch {
	case !isFloat(t.dtype) || !isFloat(angles.dtype):
		return fmt.Errorf("%w: %v by angles of %v", ErrDType, t.dtype, angles.dtype)
	case n < 1 || len(angles.shape) < 2 || angles.Dim(-1)%2 != 0 || angles.Dim(-1) > t.Dim(-1) || angles.Dim(-2) != t.Dim(-3):
		return fmt.Errorf("%w: %v by angles of %v", ErrShape, t.shape, angles.shape)
	}
	lead := angles.shape[:len(angles.shape)-1]
	if whole, err := broadcast(nil, lead, t.shape[:n]); err != nil || !equal(whole, t.shape[:n]) {
		return fmt.Errorf("%w: %v by angles of %v", ErrShape, t.shape, angles.shape)
	}
	return nil
}

// plainRotate computes Rotate by other operations.
func plainRotate(t, angles *Tensor) *Tensor {
	n, dim := angles.Dim(-1)/2, t.Dim(-1)
	cos, sin := angles.Slice(-1, 0, n).Unsqueeze(-2), angles.Slice(-1, n, 2*n).Unsqueeze(-2)
	a, b := t.Slice(-1, 0, n), t.Slice(-1, n, 2*n)
	return Concat(-1, a.Mul(cos).Sub(b.Mul(sin)), b.Mul(cos).Add(a.Mul(sin)), t.Slice(-1, 2*n, dim))
}

// rotate rotates t by contiguous angles of float32, or back.
func (s *Scope) rotate(name string, t, angles *Tensor, back bool) *Tensor {
	if t.err != nil || angles.err != nil {
		return s.fail(s.err)
	}
	out := s.copied(name, t)
	if out.err != nil {
		return out
	}
	var err error
	switch {
	case out.Len() == 0 || angles.Len() == 0: // nothing to rotate
	case t.dtype == dtype.Float32:
		err = rotateKernel[float32](s.stream, out, angles, back)
	case t.dtype == dtype.BFloat16:
		err = rotateKernel[dtype.BF16](s.stream, out, angles, back)
	default:
		err = rotateKernel[dtype.F16](s.stream, out, angles, back)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	s.record(out, step{name: name, in: []*Tensor{t}, save: []*Tensor{angles}, back: func(d *Derivative) []*Tensor {
		return []*Tensor{s.rotate(name, d.Grad, d.Saved[0], true)}
	}})
	return out
}

// rotateKernel rotates the elements of t, or back.
func rotateKernel[T number](s *device.Stream, t, angles *Tensor, back bool) error {
	rotary := angles.Dim(-1)
	shape := rope.Shape{Tokens: angles.Len() / rotary, Heads: t.Dim(-2), Dim: t.Dim(-1), Rotary: rotary}
	if back {
		return rope.RotateBack(s, shape, elements[T](t), elements[float32](angles))
	}
	return rope.Rotate(s, shape, elements[T](t), elements[float32](angles))
}
