package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/prim"
)

// Checkpoint returns f(x) without keeping the intermediate results that derivatives need. Instead, Backward calls f again (Chen et al.,
// "Training Deep Nets with Sublinear Memory Cost"). Other tensors that f uses must not be freed before Backward. Both calls of f must
// return the same values. The mistake is ErrChanged if the first call changes x.
func Checkpoint(f func(x *Tensor) *Tensor, x *Tensor) *Tensor {
	const name = "Checkpoint"
	s, err := scopeOf(name, []*Tensor{x})
	if err != nil {
		return failed(s, err)
	}
	if !s.Recording() {
		return f(x)
	}
	random, before := s.random, s.hold(x) // so that Changed has an effect
	defer drop(before)
	y := s.later(func() *Tensor { return f(x) })
	if _, err := scopeOf(name, []*Tensor{x, y}); err != nil {
		return s.fail(err)
	}
	if m := x.memory; m.version != before.version {
		return s.fail(mistake(name, fmt.Errorf("%w: the function needs its operand of %v %v again, which it changed at %s", ErrChanged, x.dtype, x.shape, m.changed.Line())))
	}
	y = s.view(y, *y) // which has no node yet, also if f returns x
	s.record(y, step{name: name, in: []*Tensor{x}, save: []*Tensor{x}, always: true, back: func(d *Derivative) []*Tensor {
		defer func(now prim.Sequence) { s.random = now }(s.random)
		s.random = random
		return s.through(func(x []*Tensor) *Tensor { return f(x[0]) }, d)
	}})
	return y
}

// later returns f(), whose operations Backward will record.
func (s *Scope) later(f func() *Tensor) (y *Tensor) {
	t := s.tape
	t.later++
	defer func() { t.later-- }()
	s.NoGrad(func() { y = s.Tidy(f) })
	return y
}

// through records f of the saved tensors and returns the derivatives with respect to them. Those with respect to other tensors are added to their
// nodes.
func (s *Scope) through(f func(x []*Tensor) *Tensor, d *Derivative) []*Tensor {
	const name = "Checkpoint"
	outer := s.tape
	inner := &tape{outer: outer}
	s.tape = inner
	defer func() {
		s.endRecord()
		s.tape = outer
	}()
	x, list := make([]*Tensor, len(d.Saved)), make([]*Tensor, len(d.Saved))
	for i, t := range d.Saved {
		if d.Wanted[i] {
			x[i] = s.Variable(t)
		} else {
			x[i] = s.Use(t)
		}
	}
	y := f(x)
	if _, err := scopeOf(name, append(x, y)); err != nil {
		return []*Tensor{s.fail(err)}
	}
	of := s.link(name, y)
	inner.done, inner.end = outer.done, outer.end
	if of == nil {
		return nil
	}
	of.add(s, name, d.Grad)
	inner.backward(s, nil)
	for i, t := range x {
		if t.node != nil && t.node.grad != nil && s.err == nil {
			list[i] = s.view(t.node.grad, *t.node.grad)
		}
	}
	return list
}
