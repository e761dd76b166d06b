package tensor

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
)

// Linear returns t W^T + bias for the rows of t along the last dimension, where W is weight. weight has the shape [n k], t has [... k], and
// the result has [... n]. bias, of shape [n], may be nil. Elements are floats; see MatMul for their types. The mistake is ErrShape if the
// sizes do not fit, and ErrDType if the elements are not floats.
func (t *Tensor) Linear(weight, bias *Tensor) *Tensor {
	const name = "Linear"
	in := []*Tensor{t, weight}
	if bias != nil {
		in = append(in, bias)
	}
	s, err := scopeOf(name, in)
	if err != nil {
		return failed(s, err)
	}
	of, err := common(t, weight)
	if err == nil {
		err = checkLinear(in, of)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	for i := range in {
		if in[i] = s.own(in[i]); i < 2 || of == dtype.Float64 { // kernels take biases in float32
			in[i] = in[i].To(of)
		}
	}
	if of == dtype.Float64 || weight.Len() == 0 {
		y := in[0].MatMul(in[1].T())
		if bias != nil {
			y = y.Add(in[2])
		}
		return y
	}
	shape := slices.Clone(t.shape)
	shape[len(shape)-1] = weight.shape[0]
	in[0] = in[0].Reshape(-1, t.Dim(-1))
	return s.linear(name, in, nil).Reshape(shape...)
}

// AddLinear returns the sum of t and x.Linear(weight, bias). If t and x.Linear(weight, bias) have the same shape, and all element types are
// the same, one kernel usually computes the sum. The mistakes are those of Linear and Add.
func (t *Tensor) AddLinear(x, weight, bias *Tensor) *Tensor {
	const name = "AddLinear"
	in := []*Tensor{x, weight}
	if bias != nil {
		in = append(in, bias)
	}
	s, err := scopeOf(name, append(in, t))
	if err != nil {
		return failed(s, err)
	}
	if of, err := common(x, weight); err != nil || t.dtype != of || x.dtype != weight.dtype || checkLinear(in, of) != nil || !addsLinear(s, t, x, weight) {
		return t.Add(x.Linear(weight, bias))
	}
	for i := range in {
		in[i] = s.own(in[i])
	}
	in[0] = in[0].Reshape(-1, x.Dim(-1))
	return s.linear(name, in, s.own(t).Reshape(-1, t.Dim(-1)).Contiguous()).Reshape(t.shape...)
}

// addsLinear reports whether one kernel adds x.Linear(weight, nil) to t.
func addsLinear(s *Scope, t, x, weight *Tensor) bool {
	return addable(s, []*Tensor{t, x, {dtype: weight.dtype, shape: []int{weight.shape[1], weight.shape[0]}}})
}

// checkLinear returns the mistake in the operands of Linear.
func checkLinear(in []*Tensor, of dtype.Type) error {
	t, w := in[0], in[1]
	if !isFloat(of) {
		return fmt.Errorf("%w: %v and %v", ErrDType, t.dtype, w.dtype)
	}
	if len(w.shape) != 2 || len(t.shape) == 0 || t.Dim(-1) != w.shape[1] {
		return fmt.Errorf("%w: rows of %v for weights of %v", ErrShape, t.shape, w.shape)
	}
	if len(in) == 3 && (!isFloat(in[2].dtype) || !equal(in[2].shape, w.shape[:1])) {
		return fmt.Errorf("%w: a bias of %v %v for weights of %v", ErrShape, in[2].dtype, in[2].shape, w.shape)
	}
	return nil
}

// linear computes the product of a matrix and the transpose of another one, plus a bias if there is one, plus to unless it is nil.
func (s *Scope) linear(name string, in []*Tensor, to *Tensor) *Tensor {
	x, w := in[0], in[1]
	if s.err != nil {
		return s.fail(s.err)
	}
	p := multiplication{x: x, m: x.shape[0], k: x.shape[1], n: w.shape[0], to: to}
	p.y = s.view(w, Tensor{shape: []int{p.k, p.n}, strides: []int{w.strides[1], w.strides[0]}, offset: w.offset})
	biased := len(in) == 3
	if biased {
		s.NoGrad(func() { p.bias = in[2].To(dtype.Float32).Contiguous() })
	}
	out := p.result(s, name)
	if to != nil {
		in = append(in, to)
	}
	s.record(out, step{name: name, in: in, save: in[:2], back: func(d *Derivative) []*Tensor {
		list := make([]*Tensor, len(in))
		if d.Wanted[0] {
			list[0] = s.slope(d, 0, d.Grad, d.Saved[1])
		}
		if d.Wanted[1] {
			list[1] = s.slope(d, 1, d.Grad.T(), d.Saved[0])
		}
		if biased && d.Wanted[2] {
			list[2] = s.sumRows(name, d.Grad, in[2].dtype)
		}
		if to != nil {
			list[len(in)-1] = d.Grad
		}
		return list
	}})
	return out
}

// sumRows returns the sums of the columns of a matrix as elements of a type of floats.
func (s *Scope) sumRows(name string, t *Tensor, of dtype.Type) *Tensor {
	if t.shape[0] == 0 {
		return s.zeros(name, of, t.shape[1:])
	}
	out := s.empty(name, of, t.shape[1:])
	a, err := axesOf(new(rooms), t.shape, []int{0})
	if err == nil && out.err == nil {
		err = s.fold(folding{array.Sum, false}, t, a, out)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	return out
}
