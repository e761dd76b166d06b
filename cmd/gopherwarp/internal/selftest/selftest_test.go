package selftest_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/cmd/gopherwarp/internal/selftest"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

// TestChecks runs the checks on every device that a machine without a GPU has.
func TestChecks(t *testing.T) {
	for _, kind := range []struct {
		name string
		open func() (*device.Device, error)
	}{{"cpu", cpu.Open}, {"interp", ptxinterp.Open}, {"interp of 7.0", volta}} {
		dev, err := kind.open()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range selftest.Checks() {
			t.Run(kind.name+"/"+c.Name, func(t *testing.T) {
				if err := c.Run(t.Context(), dev); err != nil {
					t.Error(err)
				}
			})
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}

// volta opens an interpreter that runs the code for the oldest GPUs, and warps in random order.
func volta() (*device.Device, error) {
	return ptxinterp.OpenWith(ptxinterp.Options{Seed: 5, Capability: device.Capability{Major: 7}})
}
