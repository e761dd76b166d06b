package driver_test

import (
	"errors"
	"testing"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

func TestVariant(t *testing.T) {
	type capability = driver.Capability
	k := &driver.Kernel{Variants: []driver.Variant{
		{Target: capability{9, 0}, Exact: true, PTX: &driver.Text{Code: "90a"}},
		{Target: capability{8, 0}, Narrow: true, Coarse: 4, PTX: &driver.Text{Code: "80c"}},
		{Target: capability{8, 0}, Narrow: true, Aligned: true, PTX: &driver.Text{Code: "80na"}},
		{Target: capability{8, 0}, Narrow: true, PTX: &driver.Text{Code: "80n"}},
		{Target: capability{8, 0}, PTX: &driver.Text{Code: "80"}},
		{Target: capability{7, 0}, PTX: &driver.Text{Code: "70"}},
	}}
	for c, want := range map[capability][4]string{
		{6, 1}: {}, {7, 0}: {"70", "70", "70", "70"}, {7, 5}: {"70", "70", "70", "70"}, {8, 0}: {"80", "80n", "80na", "80c"}, {8, 9}: {"80", "80n", "80na", "80c"},
		{9, 0}: {"90a", "90a", "90a", "90a"}, {10, 0}: {"80", "80n", "80na", "80c"}, {12, 1}: {"80", "80n", "80na", "80c"},
	} {
		for i, fit := range []driver.Fit{{Line: true}, {Narrow: true}, {Narrow: true, Aligned: true}, {Narrow: true, Line: true}} {
			if v, ok := k.Variant(c, fit); v.PTX.String() != want[i] || ok != (want[i] != "") {
				t.Errorf("for %v, %+v: %q, %v, want %q", c, fit, v.PTX, ok, want[i])
			}
		}
	}
}

func TestVariantOfAssumptions(t *testing.T) {
	sm70 := driver.Capability{Major: 7}
	k := &driver.Kernel{
		Assumes:  driver.Fit{Narrow: true, Aligned: true},
		Variants: []driver.Variant{{Target: sm70, Narrow: true, Aligned: true, PTX: &driver.Text{Code: "70na"}}},
	}
	if v, ok := k.Variant(sm70, driver.Fit{}); !ok || v.PTX.String() != "70na" {
		t.Errorf("%q, %v", v.PTX, ok)
	}
}

func TestInfoString(t *testing.T) {
	for want, i := range map[string]driver.Info{
		"NVIDIA H200 (cuda:1, compute capability 9.0, 141 GiB)": {
			Kind: "cuda", Index: 1, Name: "NVIDIA H200", Capability: driver.Capability{Major: 9}, Memory: 141 << 30,
		},
		"Some CPU (cpu, 8 cores), because there is no driver": {Kind: "cpu", Name: "Some CPU", Cores: 8, Reason: "there is no driver"},
		"PTX interpreter (interp)":                            {Kind: "interp", Name: "PTX interpreter"},
	} {
		if i.String() != want {
			t.Errorf("%q, want %q", i.String(), want)
		}
	}
}

// TestNoVariant tests what is said of a device that none of a kernel's variants fits.
func TestNoVariant(t *testing.T) {
	k := &driver.Kernel{Name: "late", Variants: []driver.Variant{{Target: driver.Capability{Major: 9}, Exact: true}, {Target: driver.Capability{Major: 8, Minor: 9}}}}
	for kind, want := range map[string]string{
		"cuda":   "late: no variant of the kernel fits the device: Fake has compute capability 7.5, the kernel needs 9.0 exactly, or 8.9 or later",
		"vulkan": "late: no variant of the kernel fits the device: through Vulkan, Fake runs kernels for compute capability 7.5, the kernel needs 9.0 exactly, or 8.9 or later",
	} {
		err := k.NoVariant(driver.Info{Kind: kind, Name: "Fake", Capability: driver.Capability{Major: 7, Minor: 5}})
		if !errors.Is(err, driver.ErrNoVariant) || err.Error() != want {
			t.Errorf("%s: %v, want %s", kind, err, want)
		}
	}
}
