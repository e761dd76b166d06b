package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/activation"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// number is the constraint of the elements of kernels that compute in float32.
type number interface {
	Element
	row.Number
}

// SwiGLU returns SiLU(gate)*up for each element (Shazeer, "GLU Variants Improve Transformer"). The mistake is ErrShape if the shapes differ,
// and ErrDType if the element types differ or are not floats.
func SwiGLU(gate, up *Tensor) *Tensor {
	const name = "SwiGLU"
	s, err := scopeOf(name, []*Tensor{gate, up})
	switch {
	case err != nil:
		return failed(s, err)
	case !isFloat(gate.dtype) || gate.dtype != up.dtype:
		err = fmt.Errorf("%w: %v and %v", ErrDType, gate.dtype, up.dtype)
	case !equal(gate.shape, up.shape):
		err = fmt.Errorf("%w: %v and %v", ErrShape, gate.shape, up.shape)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	if gate.dtype == dtype.Float64 {
		return gate.SiLU().Mul(up)
	}
	in := []*Tensor{gate.Contiguous(), up.Contiguous()}
	return Op{
		Name: name, In: in, DType: gate.dtype, Shape: gate.shape, Save: in, forgets: true,
		Launch: func(s *device.Stream, out *Tensor) error {
			switch out.dtype {
			case dtype.Float32:
				return swiGLU[float32](s, in, out)
			case dtype.BFloat16:
				return swiGLU[dtype.BF16](s, in, out)
			}
			return swiGLU[dtype.F16](s, in, out)
		},
		Back: func(d *Derivative) []*Tensor {
			gate, up, g := d.Saved[0], d.Saved[1], d.Grad.Contiguous()
			if gate.dtype == dtype.BFloat16 {
				return swiGLUBack[dtype.BF16](gate, up, g)
			}
			return swiGLUBack[float32](gate.To(dtype.Float32), up.To(dtype.Float32), g.To(dtype.Float32))
		},
	}.Apply()
}

// swiGLU launches the kernel.
func swiGLU[T number](s *device.Stream, in []*Tensor, out *Tensor) error {
	x := activation.Operands[T]{Gate: elements[T](in[0]), Up: elements[T](in[1]), Y: elements[T](out)}
	return activation.SwiGLU(s, activation.Shape{Rows: 1, Columns: out.Len()}, activation.Separate, x)
}

// swiGLUBack returns the derivatives of SwiGLU.
func swiGLUBack[T interface {
	Element
	activation.Element
}](gate, up, g *Tensor) []*Tensor {
	s := gate.scope
	list := []*Tensor{s.empty("SwiGLU", gate.dtype, gate.shape), s.empty("SwiGLU", up.dtype, up.shape)}
	if s.err != nil {
		return list
	}
	x := activation.Gradients[T]{Gate: elements[T](gate), Up: elements[T](up), DY: elements[T](g), DGate: elements[T](list[0]), DUp: elements[T](list[1])}
	shape := activation.Shape{Rows: 1, Columns: g.Len()}
	if n := len(g.shape); n > 1 && g.Len() > 0 { // as the kernel has a block for each row
		shape = activation.Shape{Rows: g.Len() / g.shape[n-1], Columns: g.shape[n-1]}
	}
	if err := activation.SwiGLUBack(s.stream, shape, activation.Separate, x); err != nil {
		s.fail(mistake("SwiGLU", err))
	}
	return list
}
