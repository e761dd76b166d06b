package clusters_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/conformance/clusters"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

func TestNative(t *testing.T) { run(t, cpu.OpenNative) }
func TestInterp(t *testing.T) { run(t, ptxinterp.Open) }

func run(t *testing.T, open func() (*device.Device, error)) {
	dev, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, c := range clusters.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			for b, err := range c.On(t.Context(), dev) {
				t.Errorf("%s: %v", b, err)
			}
		})
	}
}
