package tensor

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/activation"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
)

// Neg returns the negated elements. The result has the shape and the element type of t. The only mistakes are those of all operations.
func (t *Tensor) Neg() *Tensor { return unary("Neg", array.Neg, t) }

// Abs returns the absolute values of the elements. Its derivative at 0 is 0. See Neg for shapes, element types and mistakes.
func (t *Tensor) Abs() *Tensor { return unary("Abs", array.Abs, t) }

// Sign returns -1, 0 or 1 for each element, and NaN for NaN. See Neg for shapes, element types and mistakes.
func (t *Tensor) Sign() *Tensor { return unary("Sign", array.Sign, t) }

// Square returns the squares of the elements. See Neg for shapes, element types and mistakes.
func (t *Tensor) Square() *Tensor { return unary("Square", array.Square, t) }

// ReLU returns the greater of each element and 0. Its derivative at 0 is 0. See Neg for shapes, element types and mistakes.
func (t *Tensor) ReLU() *Tensor { return unary("ReLU", array.ReLU, t) }

// Sqrt returns the square roots of the elements. The result has the shape of t and its element type, or float32 for integers. The only
// mistakes are those of all operations.
func (t *Tensor) Sqrt() *Tensor { return unary("Sqrt", array.Sqrt, t) }

// Exp returns e to the power of each element. See Sqrt for shapes, element types and mistakes.
func (t *Tensor) Exp() *Tensor { return unary("Exp", array.Exp, t) }

// Log returns the natural logarithms of the elements. See Sqrt for shapes, element types and mistakes.
func (t *Tensor) Log() *Tensor { return unary("Log", array.Log, t) }

// Tanh returns the hyperbolic tangents of the elements. See Sqrt for shapes, element types and mistakes.
func (t *Tensor) Tanh() *Tensor { return unary("Tanh", array.Tanh, t) }

// Sigmoid returns 1/(1 + exp(-x)) for each element x. See Sqrt for shapes, element types and mistakes.
func (t *Tensor) Sigmoid() *Tensor { return unary("Sigmoid", array.Sigmoid, t) }

// GELU returns x*P(x) for each element x, where P is the standard normal distribution function (Hendrycks and Gimpel, "Gaussian Error
// Linear Units"). See Sqrt for shapes, element types and mistakes.
func (t *Tensor) GELU() *Tensor { return unary("GELU", array.GELU, t) }

// SiLU returns x/(1 + exp(-x)) for each element x. See Sqrt for shapes, element types and mistakes.
func (t *Tensor) SiLU() *Tensor { return unary("SiLU", array.SiLU, t) }

// Scale returns the elements times v. The result has the shape of t and its element type, or float32 if the elements are integers and v is
// not an integer. The only mistakes are those of all operations. The same holds for AddScalar and PowScalar.
func (t *Tensor) Scale(v float64) *Tensor { return scalar("Scale", array.Mul, t, v) }

// AddScalar returns the elements plus v. See Scale for element types.
func (t *Tensor) AddScalar(v float64) *Tensor { return scalar("AddScalar", array.Add, t, v) }

// PowScalar raises each element to the power of v. See Scale for element types.
func (t *Tensor) PowScalar(v float64) *Tensor { return scalar("PowScalar", array.Pow, t, v) }

// unary applies an operation to the elements of x.
func unary(name string, op array.Op, x *Tensor) *Tensor {
	s, err := scopeOf(name, []*Tensor{x})
	if err != nil {
		return failed(s, err)
	}
	if err := computable(x.dtype); err != nil {
		return s.fail(mistake(name, err))
	}
	if op >= array.Sqrt && op != array.ReLU && op != array.Square && !isFloat(x.dtype) {
		x = x.To(dtype.Float32)
	}
	out := s.activate(name, op, x)
	if out.err == nil && s.recording(x, nil) {
		o := step{name: name, in: []*Tensor{x}, back: slopeOf(op)}
		if o.saveResult = slopeOfResult(op); !o.saveResult && op != array.Neg {
			o.save = o.in
		}
		s.record(out, o)
	}
	return out
}

// functionOf returns package activation's name of an operation, if it has kernels for it, which are faster.
func functionOf(op array.Op) (activation.Function, bool) {
	switch op {
	case array.SiLU:
		return activation.SiLU, true
	case array.GELU:
		return activation.GELU, true
	case array.Sigmoid:
		return activation.Sigmoid, true
	}
	return activation.Tanh, op == array.Tanh
}

// activate applies an operation, by a kernel of package activation if it has one.
func (s *Scope) activate(name string, op array.Op, x *Tensor) *Tensor {
	f, ok := functionOf(op)
	if !ok || x.dtype == dtype.Float64 || x.err != nil || !x.IsContiguous() {
		return s.apply(name, op, x.shape, operands{x: x, out: x.dtype})
	}
	out := s.empty(name, x.dtype, x.shape)
	if out.err != nil {
		return out
	}
	var err error
	switch x.dtype {
	case dtype.Float32:
		err = activation.Apply(s.stream, f, elements[float32](x), elements[float32](out))
	case dtype.BFloat16:
		err = activation.Apply(s.stream, f, elements[dtype.BF16](x), elements[dtype.BF16](out))
	default:
		err = activation.Apply(s.stream, f, elements[dtype.F16](x), elements[dtype.F16](out))
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	return out
}

// slopeOfResult reports whether the derivative of an operation is computed from its result.
func slopeOfResult(op array.Op) bool {
	return op == array.Sqrt || op == array.Exp || op == array.Tanh || op == array.Sigmoid
}

// slopeOf returns the derivative of an operation on one tensor.
func slopeOf(op array.Op) func(d *Derivative) []*Tensor {
	return func(d *Derivative) []*Tensor {
		g, y := d.Grad, d.Result
		switch op {
		case array.Neg:
			return []*Tensor{g.Neg()}
		case array.Sqrt:
			return []*Tensor{g.Div(y).Scale(0.5)}
		case array.Exp:
			return []*Tensor{g.Mul(y)}
		case array.Tanh:
			return []*Tensor{pairwise("Tanh", array.TanhBack, g, y)}
		case array.Sigmoid:
			return []*Tensor{pairwise("Sigmoid", array.SigmoidBack, g, y)}
		}
		return []*Tensor{slopeAt(op, g, d.Saved[0])}
	}
}

// slopeAt returns g times the derivative of an operation at x.
func slopeAt(op array.Op, g, x *Tensor) *Tensor {
	switch op {
	case array.Abs:
		return g.Mul(x.Sign())
	case array.Square:
		return g.Mul(x).Scale(2)
	case array.Log:
		return g.Div(x)
	case array.ReLU:
		return pairwise("ReLU", array.ReLUBack, g, x)
	case array.GELU:
		return curveBack("GELU", activation.GELU, g, x)
	case array.SiLU:
		return curveBack("SiLU", activation.SiLU, g, x)
	}
	return g.Scale(0) // of Sign
}

// curveBack returns g times the derivative of a function at x, by a kernel of package activation if it has one.
func curveBack(name string, f activation.Function, g, x *Tensor) *Tensor {
	if g.err == nil && g.dtype == x.dtype && equal(g.shape, x.shape) && g.IsContiguous() && x.IsContiguous() {
		switch x.dtype {
		case dtype.BFloat16:
			return slopes[dtype.BF16](name, f, g, x)
		case dtype.Float32:
			return slopes[float32](name, f, g, x)
		}
	}
	return curveApart(name, f, g, x)
}

// curveApart is curveBack by an elementwise operation.
func curveApart(name string, f activation.Function, g, x *Tensor) *Tensor {
	if f == activation.GELU {
		return pairwise(name, array.GELUBack, g, x)
	}
	return pairwise(name, array.SiLUBack, g, x)
}

// slopes is curveBack for contiguous elements.
func slopes[T interface {
	Element
	activation.Element
}](name string, f activation.Function, g, x *Tensor) *Tensor {
	s := x.scope
	o := activation.Slopes[T]{X: elements[T](x), DY: elements[T](g), DX: elements[T](x)}
	if !o.Fits(s.stream, f) {
		return curveApart(name, f, g, x)
	}
	out := s.empty(name, x.dtype, x.shape)
	if out.err != nil {
		return out
	}
	o.DX = elements[T](out)
	if err := o.Back(s.stream, f); err != nil {
		return s.fail(mistake(name, err))
	}
	return out
}

// scalar applies an operation to the elements of x and v.
func scalar(name string, op array.Op, x *Tensor, v float64) *Tensor {
	s, err := scopeOf(name, []*Tensor{x})
	if err != nil {
		return failed(s, err)
	}
	if err := computable(x.dtype); err != nil {
		return s.fail(mistake(name, err))
	}
	if !isFloat(x.dtype) {
		if v != math.Trunc(v) || math.Abs(v) >= 1<<63 || op == array.Pow && v < 0 {
			x = x.To(dtype.Float32)
		} else if x.dtype == dtype.Bool {
			x = x.To(dtype.Int64)
		}
	}
	out := s.apply(name, op, x.shape, operands{x: x, scalar: v, out: x.dtype})
	if out.err == nil && s.recording(x, nil) {
		o := step{name: name, in: []*Tensor{x}, back: func(d *Derivative) []*Tensor {
			switch op {
			case array.Mul:
				return []*Tensor{d.Grad.Scale(v)}
			case array.Add:
				return []*Tensor{d.Grad}
			}
			return []*Tensor{d.Grad.Mul(scalar(name, array.PowBack, d.Saved[0], v))}
		}}
		if op == array.Pow {
			o.save = o.in
		}
		s.record(out, o)
	}
	return out
}
