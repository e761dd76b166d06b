package train

import (
	"errors"
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/optimizer"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// SGDOptions are the options of NewSGD.
type SGDOptions struct {
	Rate     float64  // the learning rate; 1e-3 by default
	Schedule Schedule // changes the rate from step to step; Constant by default
	Momentum float64  // the weight of past derivatives in the velocity
	Decay    float64  // a step adds Decay*p to the derivative of each parameter p
	Clip     float64  // limits the norm of all derivatives together; 0 for no limit
}

// SGD is stochastic gradient descent with momentum. It computes the same numbers as PyTorch's SGD without dampening.
type SGD struct {
	state
	options SGDOptions
}

// NewSGD returns an optimizer of all parameters of params that are trained. If an option is out of
// range, Step returns an error that wraps ErrOptions.
func NewSGD(params *nn.Params, o SGDOptions) *SGD {
	if o.Rate == 0 {
		o.Rate = 1e-3
	}
	err := errors.Join(between("Rate", o.Rate, 0, math.Inf(1)), between("Momentum", o.Momentum, 0, math.Inf(1)), between("Decay", o.Decay, 0, math.Inf(1)), between("Clip", o.Clip, 0, math.Inf(1)))
	return &SGD{state{params: params, rate: o.Rate, schedule: o.Schedule, clip: o.Clip, moments: 1, err: err}, o}
}

// Step updates all parameters from their derivatives, and clears the derivatives. It returns an error of the options, the Scope or the device. If the
// Scope has an error, Step clears the derivatives and changes no parameter.
func (o *SGD) Step(s *tensor.Scope) error {
	m, err := o.begin(s)
	if err != nil {
		return err
	}
	d := optimizer.Descent{Rate: o.now(), Momentum: o.options.Momentum, Decay: o.options.Decay}
	if m.Values.DType() == dtype.BFloat16 {
		return step(s, &o.state, m, func(_ int, x optimizer.Operands[dtype.BF16]) error { return optimizer.SGD(s.Stream(), d, x) })
	}
	return step(s, &o.state, m, func(_ int, x optimizer.Operands[float32]) error { return optimizer.SGD(s.Stream(), d, x) })
}
