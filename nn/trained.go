package nn

import (
	"math"

	"github.com/gopherwarp/gopherwarp/tensor"
)

// affine is the parameters of a Linear that is trained.
type affine struct{ weight, bias *Parameter }

// NewLinear returns a Linear with a bias that is trained. Its parameters begin as those of PyTorch's Linear: uniformly random between
// -1/sqrt(in) and 1/sqrt(in), which for the matrix is the initialization of He et al., "Delving Deep into Rectifiers", with a slope of sqrt(5).
func NewLinear(p *Params, in, out int) Linear {
	bound := 1 / math.Sqrt(float64(max(in, 1)))
	return Linear{In: in, Out: out, Bias: true, trained: &affine{weight: p.Uniform(bound, out, in), bias: p.Uniform(bound, out)}}
}

func (a *affine) forward(x *tensor.Tensor) *tensor.Tensor {
	s := x.Scope()
	if s == nil {
		return x.MatMul(x) // which reports that no operand has a scope
	}
	return x.MatMul(a.weight.In(s).T()).Add(a.bias.In(s))
}
