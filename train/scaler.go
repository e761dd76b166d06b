package train

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// The numbers of a Scaler, which are the defaults of PyTorch's GradScaler.
const (
	firstScale  = 65536
	growth      = 2
	backoff     = 0.5
	growthSteps = 2000
)

// A Scaler implements dynamic loss scaling (Micikevicius et al., "Mixed Precision Training"). Without it, the smallest derivatives would
// become 0 in float16. The program multiplies each loss by Scale before Backward, and Step divides the derivatives by Scale. If a derivative
// is not a finite number, Step changes no parameter, and the scale is halved. After 2000 steps without such a derivative, the scale is
// doubled.
type Scaler struct{ state Scaling }

// Scaling is the state of a Scaler.
type Scaling struct {
	Scale   float64 `json:"scale"`
	Good    int     `json:"good"`    // the number of steps since the scale changed
	Skipped int     `json:"skipped"` // the number of all skipped steps
}

// NewScaler returns a Scaler with a scale of 65536.
func NewScaler() *Scaler { return &Scaler{Scaling{Scale: firstScale}} }

// Scale returns the factor for losses.
func (x *Scaler) Scale() float64 { return x.state.Scale }

// State returns the state, for the method Restore of another Scaler.
func (x *Scaler) State() Scaling { return x.state }

// Restore makes the Scaler continue from a state.
func (x *Scaler) Restore(s Scaling) { x.state = s }

// update changes the scale after a step.
func (x *Scaler) update(skipped bool) {
	s := &x.state
	if skipped {
		s.Scale, s.Good = s.Scale*backoff, 0
		s.Skipped++
		return
	}
	if s.Good++; s.Good == growthSteps {
		s.Scale, s.Good = s.Scale*growth, 0
	}
}

// unscale waits for the norm of the derivatives in factor, stores there the number by which the optimizer multiplies them, and reports whether
// all derivatives are finite.
func (o *state) unscale(s *tensor.Scope, factor device.Slice[float32]) (finite bool, err error) {
	var v [2]float32
	if err := device.Download(s.Stream(), v[:], factor); err != nil {
		return false, err
	}
	if err := s.Stream().Synchronize(s.Context()); err != nil {
		return false, err
	}
	scale := o.scaler.Scale()
	o.norm = float64(v[1]) / scale
	if finite = !math.IsNaN(o.norm) && !math.IsInf(o.norm, 0); !finite {
		return false, nil
	}
	by := 1.0
	if o.clip > 0 {
		by = min(1, o.clip/(o.norm+1e-6))
	}
	v[0] = float32(by / scale)
	return true, device.UploadTo(s.Stream(), factor, v[:])
}
