package lora

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// decomposition is what DoRA adds to a Pair.
type decomposition struct {
	magnitude *nn.Parameter // [Out], or nil without DoRA
	base      *nn.Linear
	squares   constant // the squares of the norms of the rows of base
	fixed     constant // what factor returned at Fix
}

// constant is a vector on a device, empty at first.
type constant struct {
	buffer *device.Buffer[float32]
	value  *tensor.Tensor
}

// set uploads the values.
func (c *constant) set(s *device.Stream, values []float32) (err error) {
	if c.buffer, err = device.Upload(s, values); err == nil {
		c.value, err = tensor.Wrap(c.buffer.All(), len(values))
	}
	return err
}

// close frees the memory.
func (d *decomposition) close() (err error) {
	for _, c := range []*constant{&d.squares, &d.fixed} {
		if c.buffer != nil {
			err = errors.Join(err, c.buffer.Close())
		}
		*c = constant{}
	}
	return err
}

// Decomposed reports whether the adapter has the option DoRA. If so, the argument y of Add must be the results of the layer, to which nothing
// else has been added, because Add scales y.
func (p *Pair) Decomposed() bool { return p != nil && p.base != nil }

// Attach passes the model's layer with the given name to the adapter. A model calls Attach for all layers before it uses the adapter. With
// DoRA, Attach computes the norms of the rows of the layer's matrix.
func (a *Adapter) Attach(name string, base *nn.Linear) error {
	p := a.Pair(name)
	if p == nil || !a.DoRA || p.base == base {
		return nil
	}
	squares, norms := []float32(nil), []float32(nil)
	err := tensor.RunOn(context.Background(), a.stream, func(s *tensor.Scope) (err error) {
		x := base.RowNorms(s)
		if norms, err = tensor.Values[float32](s.Context(), x); err == nil {
			squares, err = tensor.Values[float32](s.Context(), x.Square())
		}
		return err
	})
	if err := errors.Join(err, p.close()); err != nil {
		return err
	}
	if p.magnitude == nil {
		p.magnitude = a.params.Parameter(norms, len(norms))
	}
	p.base = base
	return p.squares.set(a.stream, squares)
}

// Fix prepares the adapter for inference. After Fix, the adapter must not be trained. With DoRA, Fix computes the norms of the rows of W +
// scale B A once, instead of in each call of Add.
func (a *Adapter) Fix(ctx context.Context) error {
	for _, p := range a.list {
		if !p.Decomposed() {
			continue
		}
		var values []float32
		err := tensor.RunOn(ctx, a.stream, func(s *tensor.Scope) (err error) {
			values, err = tensor.Values[float32](ctx, p.factor(s))
			return err
		})
		if err == nil {
			err = p.fixed.set(a.stream, values)
		}
		if err != nil {
			return fmt.Errorf("lora: %s: %w", p.layer.Name, err)
		}
	}
	return nil
}

// factor returns for each row of W + scale B A the trained norm divided by the row's.
func (p *Pair) factor(s *tensor.Scope) *tensor.Tensor {
	if p.fixed.value != nil {
		return s.Use(p.fixed.value)
	}
	var norms *tensor.Tensor
	s.NoGrad(func() { norms = s.Tidy(func() *tensor.Tensor { return p.norms(s) }) })
	return p.magnitude.In(s).To(dtype.Float32).Div(norms)
}

// norms returns the norms of the rows of W + scale B A without computing the matrix: the square of a row's norm is w w + 2 scale b (A w) +
// scale^2 b (A A^T) b for the row w of W and b of B.
func (p *Pair) norms(s *tensor.Scope) *tensor.Tensor {
	a, b := p.a.In(s), p.b.In(s).To(dtype.Float32)
	mixed := p.base.Product(a).T().To(dtype.Float32) // [Out, rank]
	a = a.To(dtype.Float32)
	low := mixed.Scale(2 * p.scale).Add(b.MatMul(a.MatMul(a.T())).Scale(p.scale * p.scale))
	return s.Use(p.squares.value).Add(b.Mul(low).Sum(1)).Sqrt()
}
