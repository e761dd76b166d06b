package finetune

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// preferences returns for each preference of a pack beta times the number by which the adapter has raised the log-probability of the chosen answer more than
// that of the rejected one. The loss of direct preference optimization is the mean of the negative logarithms of their sigmoids (Rafailov et al., "Direct
// Preference Optimization: Your Language Model is Secretly a Reward Model").
func (r *replica) preferences(s *tensor.Scope, pack text.Pack) (*tensor.Tensor, error) {
	var reference *tensor.Tensor
	var err error
	s.NoGrad(func() {
		if err = r.model.Adapt(nil); err == nil {
			reference = s.Tidy(func() (y *tensor.Tensor) {
				y, err = r.margins(s, pack)
				return y
			})
		}
	})
	if err != nil {
		return nil, err
	}
	if err := r.model.Adapt(r.adapter); err != nil {
		return nil, err
	}
	margins, err := r.margins(s, pack)
	if err != nil {
		return nil, err
	}
	return margins.Sub(reference).Scale(r.config.Beta), nil
}

// margins returns for each preference of a pack the log-probability of the chosen answer minus that of the rejected one.
func (r *replica) margins(s *tensor.Scope, pack text.Pack) (*tensor.Tensor, error) {
	x, err := r.model.Read(s, packed(pack))
	if err != nil {
		return nil, err
	}
	signs := make([]float32, pack.Pairs*pack.Learned) // for each pair those of all losses, which are negative log-probabilities
	at, loss := 0, 0
	for i, n := range pack.Lengths {
		for _, label := range pack.Labels[at : at+n] {
			if label >= 0 {
				signs[i/2*pack.Learned+loss] = float32(i%2*2 - 1)
				loss++
			}
		}
		at += n
	}
	losses := r.model.Losses(x, pack.Labels)
	return tensor.From(s, signs, pack.Pairs, pack.Learned).Mul(losses).Sum(1), nil
}

// softplus returns the mean of log(1 + exp(-x)) for a vector.
func softplus(x *tensor.Tensor) *tensor.Tensor {
	zeros := tensor.Zeros(x.Scope(), dtype.Float32, x.Len())
	return tensor.Stack(1, zeros, x.Neg()).LogSumExp(1).Mean()
}
