package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// AddMatMul returns the sum of t and the product of x and y. x has the shape [... m k], y has [k n], and t has [... m n]. Elements are floats,
// and the result has the element type of t. If all three types are the same, or if x and y are bfloat16 and t is float32, one kernel usually
// computes the product and the sum. The mistakes are those of MatMul, and ErrShape if the product does not have the shape of t.
func (t *Tensor) AddMatMul(x, y *Tensor) *Tensor {
	const name = "AddMatMul"
	in := []*Tensor{t, x, y}
	s, err := scopeOf(name, in)
	if err != nil {
		return failed(s, err)
	}
	if !isFloat(t.dtype) {
		return s.fail(mistake(name, fmt.Errorf("%w: %v", ErrDType, t.dtype)))
	}
	for i := range in {
		in[i] = s.own(in[i])
	}
	if !addable(s, in) {
		sum := in[0].Add(in[1].MatMul(in[2])).To(t.dtype)
		if sum.err == nil && !equal(sum.shape, t.shape) {
			return s.fail(mistake(name, fmt.Errorf("%w: %v by %v to %v", ErrShape, x.shape, y.shape, t.shape)))
		}
		return sum
	}
	in[0], in[1] = in[0].Reshape(-1, y.shape[1]), in[1].Reshape(-1, y.shape[0])
	return s.addProduct(name, in).Reshape(t.shape...)
}

// addable reports whether one kernel adds a product to in[0].
func addable(s *Scope, in []*Tensor) bool {
	t, x, y := in[0], in[1], in[2]
	last := len(t.shape) - 1
	switch {
	case last < 1 || len(x.shape) != last+1 || len(y.shape) != 2 || t.Len() == 0 || y.Len() == 0:
		return false
	case x.Dim(-1) != y.shape[0] || t.Dim(-1) != y.shape[1] || !equal(t.shape[:last], x.shape[:last]):
		return false
	case x.dtype != y.dtype || x.dtype == dtype.Float64:
		return false
	case x.dtype == dtype.Float32:
		return t.dtype == x.dtype
	}
	return row.FormFor(s.stream) != row.Plain && (t.dtype == x.dtype || t.dtype == dtype.Float32 && x.dtype == dtype.BFloat16)
}

// addProduct computes in[0] + in[1] in[2] for matrices.
func (s *Scope) addProduct(name string, in []*Tensor) *Tensor {
	t, x, y := in[0].Contiguous(), in[1], in[2]
	out := s.empty(name, t.dtype, t.shape)
	if out.err != nil {
		return out
	}
	p, err := productOf(x, y)
	if p.to = t; err == nil && t.dtype == dtype.Float32 {
		p.to = out // as kernels add to the memory of the result
		err = device.Copy(s.stream, elements[float32](out), elements[float32](t))
	}
	if err == nil {
		err = p.launch(s, out)
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	s.record(out, step{name: name, in: in, save: []*Tensor{x, y}, back: func(d *Derivative) []*Tensor {
		list, g := []*Tensor{d.Grad, nil, nil}, d.Grad.To(x.dtype)
		if d.Wanted[1] {
			list[1] = s.slope(d, 1, g, d.Saved[1].T())
		}
		if d.Wanted[2] {
			list[2] = s.slope(d, 2, d.Saved[0].T(), g)
		}
		return list
	}})
	return out
}

// slope returns the product of x and y, the derivative with respect to operand i of an operation, or its sum with that through other
// operations if one kernel computes it. It may be a view that is not contiguous. If the operand is a parameter, and one kernel adds the
// product to its derivative, the result is nil.
func (s *Scope) slope(d *Derivative, i int, x, y *Tensor) *Tensor {
	name := d.name
	if to := d.targets[i]; to != nil && s.addTo(name, to, x, y) {
		return nil
	}
	if to := d.sums[i]; to != nil && to.dtype.Size() == 2 && to.dtype == x.dtype && to.IsContiguous() && addable(s, []*Tensor{to, x, y}) {
		return s.addProduct(name, []*Tensor{d.Sum(i), x, y})
	}
	p, err := productOf(x, y)
	if err != nil || p.k == 0 {
		return s.products(name, x, y)
	}
	p.view = true
	return p.result(s, name)
}

// addTo adds the product of matrices x and y to t, and reports whether it did: one kernel must be able to, and be fast.
func (s *Scope) addTo(name string, t, x, y *Tensor) bool {
	if t.dtype != x.dtype || !t.IsContiguous() || len(t.shape) != 2 || !addable(s, []*Tensor{t, x, y}) {
		return false
	}
	p, err := productOf(x, y)
	if err != nil || p.narrow() {
		return false
	}
	p.to = t
	if err := p.launch(s, t); err != nil {
		s.fail(mistake(name, err))
	}
	return true
}

// widened computes a product of bfloat16 matrices as float32 numbers.
func (p *multiplication) widened(s *Scope, out *Tensor) error {
	return batches(s, p, out, func(shape gemm.Shape, x gemm.Operands[dtype.BF16, dtype.BF16, float32], aligned bool) error {
		if !aligned {
			return gemm.HalfTo32In(s.stream, gemm.Plain, shape, x)
		}
		return withWorkspace(s, shape, func(work device.Slice[float32]) error {
			x.Workspace = work
			return gemm.HalfTo32(s.stream, shape, x)
		})
	})
}
