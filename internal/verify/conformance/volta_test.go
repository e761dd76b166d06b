package conformance_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance"
)

// TestInterpreterVolta runs the code for the oldest GPUs, which does without some instructions.
func TestInterpreterVolta(t *testing.T) {
	dev, err := ptxinterp.OpenWith(ptxinterp.Options{Capability: device.Capability{Major: 7}})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s := suite{dev: dev, sample: 1, behaviours: map[string]bool{}}
	for _, g := range conformance.Groups() {
		if g.Name == "threads" {
			s.run(t, g)
		}
	}
	s.demand(t, 0)
}
