package tensor

// Checkpoint returns f(x) without keeping what the derivatives of f's operations need: Backward calls f again instead (Chen et al., "Training
// Deep Nets with Sublinear Memory Cost"). Variables and other tensors that f uses besides x must not be freed before. Both calls
// must return the same.
func Checkpoint(f func(x *Tensor) *Tensor, x *Tensor) *Tensor {
	const name = "Checkpoint"
	s, err := scopeOf(name, []*Tensor{x})
	if err != nil {
		return failed(s, err)
	}
	if !s.Recording() {
		return f(x)
	}
	var y *Tensor
	s.NoGrad(func() { y = s.Tidy(func() *Tensor { return f(x) }) })
	if _, err := scopeOf(name, []*Tensor{x, y}); err != nil {
		return s.fail(err)
	}
	y = s.view(y, *y) // which has no node yet, also if f returns x
	s.record(y, step{name: name, in: []*Tensor{x}, save: []*Tensor{x}, always: true, back: func(d *Derivative) []*Tensor {
		return []*Tensor{s.again(f, d)}
	}})
	return y
}

// again records f and returns the derivative with respect to its argument. Those with respect to other tensors are added to their nodes.
func (s *Scope) again(f func(x *Tensor) *Tensor, d *Derivative) *Tensor {
	outer, inner := s.tape, &tape{}
	s.tape = inner
	defer func() {
		s.endRecord()
		s.tape = outer
	}()
	x := s.Variable(d.Saved[0])
	y := f(x)
	if _, err := scopeOf("Checkpoint", []*Tensor{x, y}); err != nil {
		return s.fail(err)
	}
	inner.done = outer.done
	if y.node == nil {
		return nil
	}
	y.node.add(s, "Checkpoint", d.Grad)
	inner.backward(s)
	if x.node.grad == nil || s.err != nil {
		return nil
	}
	return s.view(x.node.grad, *x.node.grad)
}
