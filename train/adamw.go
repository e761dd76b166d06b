package train

import (
	"errors"
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/optimizer"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// AdamWOptions are the options of NewAdamW.
type AdamWOptions struct {
	Rate     float64  // the learning rate; 1e-3 by default
	Schedule Schedule // changes the rate from step to step; Constant by default
	Beta1    float64  // the weight of past derivatives in their mean; 0.9 by default
	Beta2    float64  // the weight of past squares in their mean; 0.999 by default
	Epsilon  float64  // is added to the root of the mean square; 1e-8 by default
	Decay    float64  // before other changes, a step multiplies parameters by 1 - rate*Decay
	Clip     float64  // limits the norm of all derivatives together; 0 for no limit
	// EightBit stores the moments of parameters with at least 4096 elements in 8 bits (Dettmers et al., "8-bit Optimizers via Block-wise
	// Quantization"). The moments of an element then take 2.05 bytes instead of 8.
	EightBit bool
	Scaler   *Scaler // divides derivatives by the scale of losses, and skips steps; nil if losses are not scaled
}

// AdamW is Adam with decoupled weight decay (Loshchilov and Hutter, "Decoupled Weight Decay Regularization"). It computes the same numbers
// as PyTorch's AdamW. All parameters decay.
type AdamW struct {
	state
	options AdamWOptions
}

// NewAdamW returns an optimizer of all parameters of params that are trained. If an option is out of
// range, Step returns an error that wraps ErrOptions.
func NewAdamW(params *nn.Params, o AdamWOptions) *AdamW {
	for v, value := range map[*float64]float64{&o.Rate: 1e-3, &o.Beta1: 0.9, &o.Beta2: 0.999, &o.Epsilon: 1e-8} {
		if *v == 0 {
			*v = value
		}
	}
	err := errors.Join(between("Rate", o.Rate, 0, math.Inf(1)), between("Beta1", o.Beta1, 0, 1), between("Beta2", o.Beta2, 0, 1), between("Epsilon", o.Epsilon, 0, math.Inf(1)),
		between("Decay", o.Decay, 0, math.Inf(1)), between("Clip", o.Clip, 0, math.Inf(1)))
	a := &AdamW{state{params: params, rate: o.Rate, schedule: o.Schedule, clip: o.Clip, moments: 2, scaler: o.Scaler, err: err}, o}
	if o.EightBit {
		a.eight = &eight{}
	}
	return a
}

// Step updates all parameters from their derivatives, and clears the derivatives. It returns an error of the options, the Scope or the device. If the
// Scope has an error, Step clears the derivatives and changes no parameter.
func (o *AdamW) Step(s *tensor.Scope) error { return o.StepEach(s, nil) }

// StepEach is like Step. Unless stepped is nil, StepEach calls it with the index of each part of nn.Memory.Parts, as soon as the update of this
// part has been enqueued on the Scope's stream. A step that a Scaler skips updates no part.
func (o *AdamW) StepEach(s *tensor.Scope, stepped func(part int)) error {
	o.stepped = stepped
	m, err := o.begin(s)
	if err != nil {
		return err
	}
	a := optimizer.Adam{
		Rate: o.now(), Beta1: o.options.Beta1, Beta2: o.options.Beta2, Epsilon: o.options.Epsilon, Decay: o.options.Decay,
		Step: o.steps + 1,
	}
	if o.eight != nil {
		return o.stepEight(s, m, a)
	}
	if m.Values.DType() == dtype.BFloat16 {
		return step(s, &o.state, m, func(_ int, x optimizer.Operands[dtype.BF16]) error { return optimizer.AdamW(s.Stream(), a, x) })
	}
	return step(s, &o.state, m, func(_ int, x optimizer.Operands[float32]) error { return optimizer.AdamW(s.Stream(), a, x) })
}
