package compare

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

// oldest is the capability of the oldest GPU that there is code for.
var oldest = device.Capability{Major: 7}

// interpreters run trials as GPUs do: an old GPU, which takes the code for all launches, and a new one, which takes
// the code for small launches. They are for one goroutine.
type interpreters []*trial.Runner

// newInterpreters returns interpreters with all their checks.
func newInterpreters() (list interpreters, err error) {
	checks := ptxinterp.Checked().Checks
	for _, o := range []ptxinterp.Options{{Wide: true, Seed: 99, Capability: oldest}, {}} {
		o.Checks = checks
		dev, err := ptxinterp.OpenWith(o)
		if err != nil {
			return nil, err
		}
		dev.CoarsenAlways(true) // the kernels are small
		list = append(list, trial.NewRunner(dev))
	}
	return list, nil
}

// run runs a compiled trial on every interpreter that there is code for, and on the new GPU also with the variants
// that assume less about the launch. It returns how a result differs from want, or "", and want. An empty want is
// replaced by the first result.
func (list interpreters) run(t *trial.Trial, want trial.Result) (how string, right trial.Result) {
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
