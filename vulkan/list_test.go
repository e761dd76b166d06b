package vulkan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/vulkansys"
)

// TestRequired tests the features without which a driver is refused.
func TestRequired(t *testing.T) {
	f, _, f12 := vulkansys.NewFeatures()
	f.Int64 = 1
	if got := required(f, f12); !slices.Equal(got, []string{"addresses of buffers (bufferDeviceAddress)"}) {
		t.Errorf("without addresses: %q", got)
	}
	f12.Addresses = 1
	if got := required(f, f12); got != nil {
		t.Errorf("with both: %q", got)
	}
}

// TestFeatureError tests that the error names what a device lacks, and what to install.
func TestFeatureError(t *testing.T) {
	f, _, f12 := vulkansys.NewFeatures()
	f.Int64 = 1
	err := featureError(required(f, f12))
	const want = "vulkan: the device lacks what kernels need: it has no addresses of buffers (bufferDeviceAddress); install a newer driver"
	if !errors.Is(err, ErrFeatures) || !strings.HasPrefix(err.Error(), want) {
		t.Error(err)
	}
}

// TestComplete tests which devices can be chosen without being asked for.
func TestComplete(t *testing.T) {
	for _, c := range []struct {
		d    Description
		want bool
	}{
		{Description{Type: typeOf(vulkansys.KindDiscrete)}, true},
		{Description{Type: typeOf(vulkansys.KindIntegrated)}, true},
		{Description{Type: typeOf(vulkansys.KindCPU)}, false},
		{Description{Type: typeOf(vulkansys.KindVirtual)}, false},
		{Description{Type: Discrete, Lacks: []string{"float64"}}, false},
		{Description{Type: Discrete, Missing: []string{"addresses"}}, false},
	} {
		if got := c.d.Complete(); got != c.want {
			t.Errorf("%+v: %v", c.d, got)
		}
	}
}

// TestList compares the descriptions with what Open enables.
func TestList(t *testing.T) {
	list, err := List()
	if err != nil {
		t.Skip(err)
	}
	for i, d := range list {
		if d.Index != i || d.Kind != "vulkan" || d.Name == "" || d.Driver == "" {
			t.Errorf("device %d: %+v", i, d)
		}
		dev, err := Open(i)
		if (err == nil) != (d.Missing == nil) {
			t.Errorf("device %d lacks %q, but Open: %v", i, d.Missing, err)
		}
		if err == nil {
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
