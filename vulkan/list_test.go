package vulkan

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxspirv"
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
	const want = "vulkan: the device lacks what kernels need: it has no addresses of buffers (bufferDeviceAddress); a newer "
	if !errors.Is(err, ErrFeatures) || !strings.HasPrefix(err.Error(), want) {
		t.Error(err)
	}
}

// TestNotListed tests what is said about each answer of the loader.
func TestNotListed(t *testing.T) {
	failed := func(r vulkansys.Result) error {
		return &vulkansys.Error{Function: "EnumeratePhysicalDevices", Result: r}
	}
	for _, c := range []struct {
		devices int
		err     error
		none    bool // no driver has a device
		want    string
	}{
		{2, nil, false, ""},
		{0, nil, true, "finds no driver with a device"},
		{0, failed(vulkansys.InitializationFail), true, "finds no driver with a device"},
		{0, failed(vulkansys.OutOfHostMemory), false, "vulkan: listing devices: vkEnumeratePhysicalDevices: VK_ERROR_OUT_OF_HOST_MEMORY"},
	} {
		err := notListed(c.devices, c.err)
		if (err == nil) != (c.want == "") || errors.Is(err, ErrNoDevice) != c.none || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d devices, %v: %v", c.devices, c.err, err)
		}
	}
}

// TestNoIndex tests that the error names the devices that there are.
func TestNoIndex(t *testing.T) {
	for devices, want := range map[int]string{1: "there is no vulkan:7, only vulkan:0", 3: "there is no vulkan:7, only vulkan:0 to vulkan:2"} {
		if err := noIndex(7, devices); !errors.Is(err, ErrNoDevice) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%d devices: %v", devices, err)
		}
	}
}

// TestLacking tests that each feature that a device does not have is listed, and no other one.
func TestLacking(t *testing.T) {
	f, f11, f12 := vulkansys.NewFeatures()
	if n := len(lacking(f, f11, f12).Names()); n != 6 {
		t.Errorf("a device without features lacks %d", n)
	}
	f.Float64, f.Int16, f11.Storage16, f12.Int8, f12.Storage8, f12.BufferAtomics64 = 1, 1, 1, 1, 1, 1
	for want, has := range map[string]*uint32{
		"float64 (shaderFloat64)": &f.Float64, "16-bit integers (shaderInt16)": &f.Int16,
		"16-bit elements of slices (storageBuffer16BitAccess)": &f11.Storage16, "8-bit integers (shaderInt8)": &f12.Int8,
		"8-bit elements of slices (storageBuffer8BitAccess)": &f12.Storage8, "64-bit atomics (shaderBufferInt64Atomics)": &f12.BufferAtomics64,
	} {
		*has = 0
		if got := lacking(f, f11, f12).Names(); !slices.Equal(got, []string{want}) {
			t.Errorf("without %s: %q", want, got)
		}
		*has = 1
	}
}

// TestRefused runs a kernel that needs float64 on a device that does as if it lacked that, and another kernel after it.
func TestRefused(t *testing.T) {
	b := opened(t)
	b.lacks = ptxspirv.Float64
	double := computing("cvt.rn.f64.u32 %fd1, %r1; add.rn.f64 %fd1, %fd1, %fd1; mov.b64 %rd2, %fd1;")
	_, err := b.probe(double, []byte{7, 0, 0, 0}, make([]byte, 8))
	if !errors.Is(err, ptxspirv.ErrUnsupported) || !strings.Contains(err.Error(), "needs float64 (shaderFloat64), which the device lacks") {
		t.Errorf("float64: %v", err)
	}
	if out, err := b.probe(computing("cvt.u64.u32 %rd2, %r1;"), []byte{7, 0, 0, 0}, make([]byte, 8)); err != nil || out[0] != 7 {
		t.Errorf("without float64: %v, %v", out, err)
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
