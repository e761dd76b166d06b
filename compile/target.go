package compile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/backend/ptx"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// setTargets finds the GPUs that the code is emitted for: the oldest that have what it uses, or
// those that its //gpu:target names, and newer ones that it is better on.
func (c *code) setTargets() diag.List {
	c.targets = ptx.Targets(c.wide)
	t, needed := c.Target, ptx.Exact(c.wide)
	c.exact = t.Exact || needed
	if t.Capability == (driver.Capability{}) {
		return nil
	}
	switch {
	case !ptx.Known(t.Capability, t.Exact):
		return diag.List{diag.New(t.Pos, diag.KernelTarget, "unknown target %s", architecture(t.Capability, t.Exact)).
			WithHelp("GPUs have compute capability 7.0, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 12.0 or 12.1; from 9.0 on, a target with the suffix a, such as sm_90a, is for that capability only")}
	case less(t.Capability, c.targets[0]), needed && (!t.Exact || t.Capability != c.targets[0]):
		return diag.List{diag.New(t.Pos, diag.KernelTarget, "%s needs %s, but //gpu:target is %s", c.Name, architecture(c.targets[0], needed), architecture(t.Capability, t.Exact)).
			WithHelp("remove the directive; the compiler finds the lowest target itself")}
	}
	newer := slices.DeleteFunc(c.targets, func(d driver.Capability) bool { return t.Exact || !less(t.Capability, d) })
	c.targets = slices.Insert(newer, 0, t.Capability)
	return nil
}

// share deals the targets to the bodies of a kernel: each has those from its lowest to the next
// body's lowest.
func share(all []code) diag.List {
	for i, c := range all {
		for _, d := range all[:i] {
			if c.targets[0] == d.targets[0] && c.exact == d.exact {
				return diag.List{diag.New(c.Pos, diag.KernelVariant, "%s and %s are for the same GPUs: %s", c.Name, d.Name, architecture(c.targets[0], c.exact)).
					WithHelp("restrict one of them with //gpu:target")}
			}
		}
	}
	for i := range all {
		all[i].targets = slices.DeleteFunc(all[i].targets, func(t driver.Capability) bool { return all[i].yields(t, all) })
	}
	return nil
}

// yields reports whether another body is for the target and those above it.
func (c code) yields(t driver.Capability, all []code) bool {
	return !c.exact && slices.ContainsFunc(all, func(d code) bool {
		return !d.exact && less(c.targets[0], d.targets[0]) && !less(t, d.targets[0])
	})
}

func less(a, b driver.Capability) bool {
	return cmp.Or(cmp.Compare(a.Major, b.Major), cmp.Compare(a.Minor, b.Minor)) < 0
}

// architecture returns the name of a target as PTX and nvcc have it.
func architecture(c driver.Capability, exact bool) string {
	suffix := ""
	if exact {
		suffix = "a"
	}
	return fmt.Sprintf("sm_%d%d%s", c.Major, c.Minor, suffix)
}
