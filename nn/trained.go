package nn

import (
	"math"

	"github.com/gopherwarp/gopherwarp/tensor"
)

// affine is the parameters of a Linear that is trained. The bias may be nil.
type affine struct{ weight, bias *Parameter }

// NewLinear returns a Linear with a bias, which is trained. As in PyTorch, its parameters begin with random numbers, uniformly distributed between
// -1/sqrt(in) and 1/sqrt(in) (He et al., "Delving Deep into Rectifiers").
func NewLinear(p *Params, in, out int) Linear {
	bound := 1 / math.Sqrt(float64(max(in, 1)))
	return Linear{In: in, Out: out, Bias: true, trained: &affine{weight: p.Uniform(bound, out, in), bias: p.Uniform(bound, out)}}
}

// NewStacked returns a Stacked that is trained. Its layers begin with the values of NewLinear.
func NewStacked(p *Params, in int, out ...int) Stacked {
	l := Stacked{In: in, Out: out, Bias: true}
	for _, n := range out {
		l.parts = append(l.parts, NewLinear(p, in, n))
	}
	return l
}

func (a *affine) forward(x *tensor.Tensor) *tensor.Tensor {
	if a.bias == nil {
		return x.Linear(a.weight.beside(x), nil)
	}
	return x.Linear(a.weight.beside(x), a.bias.precise(x))
}

// rows returns forward of some rows of the matrix, which has a bias.
func (a *affine) rows(x *tensor.Tensor, from, to int) *tensor.Tensor {
	return x.Linear(a.weight.beside(x).Slice(0, from, to), a.bias.precise(x).Slice(0, from, to))
}

// addTo returns the sum of the results for the rows of x and another tensor.
func (a *affine) addTo(sum, x *tensor.Tensor) *tensor.Tensor {
	if a.bias == nil {
		return sum.AddLinear(x, a.weight.beside(x), nil)
	}
	return sum.AddLinear(x, a.weight.beside(x), a.bias.precise(x))
}

// beside returns the parameter in the Scope of x. If x has none, the result is nil, which operations report.
func (q *Parameter) beside(x *tensor.Tensor) *tensor.Tensor {
	if s := x.Scope(); s != nil {
		return q.In(s)
	}
	return nil
}

// precise is beside in float32, in which kernels take biases and the weights of norms.
func (q *Parameter) precise(x *tensor.Tensor) *tensor.Tensor {
	if s := x.Scope(); s != nil {
		return q.in(s, func() *tensor.Tensor { return q.master })
	}
	return nil
}

// NewEmbedding returns an Embedding that is trained. Its vectors begin with random numbers of a standard normal distribution, as in
// PyTorch.
func NewEmbedding(p *Params, count, width int) Embedding {
	return Embedding{Count: count, Width: width, trained: p.Normal(1, count, width)}
}

// NewRMSNorm returns an RMSNorm that is trained. Its weights begin as 1.
func NewRMSNorm(p *Params, width int, epsilon float32) RMSNorm {
	return RMSNorm{Width: width, Epsilon: epsilon, out: p.activations, trained: p.ones(width)}
}

// NewLayerNorm returns a LayerNorm that is trained. Its weights begin as 1, and its biases as 0.
func NewLayerNorm(p *Params, width int, epsilon float32) LayerNorm {
	zeros := p.Parameter(make([]float32, max(width, 0)), width)
	return LayerNorm{Width: width, Epsilon: epsilon, out: p.activations, trained: &affine{weight: p.ones(width), bias: zeros}}
}

// ones returns a parameter that begins as 1.
func (p *Params) ones(n int) *Parameter {
	list := make([]float32, max(n, 0))
	for i := range list {
		list[i] = 1
	}
	return p.Parameter(list, n)
}
