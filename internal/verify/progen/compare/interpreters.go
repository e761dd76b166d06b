package compare

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

// oldest is the capability of the oldest GPU that there is code for.
var oldest = device.Capability{Major: 7}

// Interpreters run trials as GPUs do: an old one, which takes the code for all launches, and a new one, which takes
// that for small ones. They are for one goroutine.
type Interpreters []*trial.Runner

// NewInterpreters returns interpreters with all their checks. A launch may execute at most budget instructions;
// 0 is a limit of minutes.
func NewInterpreters(budget uint64) (list Interpreters, err error) {
	checks := ptxinterp.Checked().Checks
	for _, o := range []ptxinterp.Options{{Wide: true, Seed: 99, Capability: oldest}, {}} {
		o.Checks, o.Budget = checks, budget
		dev, err := ptxinterp.OpenWith(o)
		if err != nil {
			return nil, err
		}
		dev.CoarsenAlways(true) // the kernels are small
		list = append(list, trial.NewRunner(dev))
	}
	return list, nil
}

// Run runs a compiled trial on all that there is code for, the new one also with less known of the launch. It returns how
// that differs from the result want, or "", and want; where that is empty it is what the first one leaves.
func (list Interpreters) Run(t *trial.Trial, want trial.Result) (how string, right trial.Result) {
	for i, m := range list {
		capability := m.Device().Info().Capability
		if _, ok := t.Kernel.Variant(capability, driver.Fit{}); !ok {
			continue // it needs a newer GPU
		}
		got := m.Run(t)
		if want.Empty() {
			want = got
		}
		how := t.Differs(want, got)
		for _, less := range t.Lesser() {
			if how == "" && i > 0 { // which the old GPU has no code for
				how = t.Differs(want, m.Run(less))
			}
		}
		if how != "" {
			return capability.String() + ": " + how, want
		}
	}
	return "", want
}
