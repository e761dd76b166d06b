package bodies_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/bodies"
)

// TestChoice runs kernels on GPUs of several kinds, as far as the interpreter is one.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		major, minor int
		which, of    int
	}{
		{7, 0, 70, 70}, {7, 5, 70, 70}, {8, 0, 80, 70}, {8, 9, 80, 70}, {9, 0, 90, 90}, {10, 0, 80, 90}, {12, 1, 80, 90},
	} {
		dev, err := ptxinterp.OpenWith(ptxinterp.Options{Capability: device.Capability{Major: c.major, Minor: c.minor}})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, dev, c.which, c.of)
	}
}

func TestCPU(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	compare(t, dev, 70, 70)
}

func TestCUDA(t *testing.T) {
	dev, err := cuda.Open(0)
	if err != nil {
		t.Skip(err)
	}
	which, of := 70, 70
	switch c := dev.Info().Capability; {
	case c == device.Capability{Major: 9}:
		which, of = 90, 90
	case c.Major > 9:
		which, of = 80, 90
	case c.Major == 8:
		which = 80
	}
	compare(t, dev, which, of)
}

// compare demands what the kernels store, and closes the device.
func compare(t *testing.T, dev *device.Device, which, of int) {
	t.Helper()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	ints, floats := make([]int, 64), make([]float64, 64)
	a, errA := device.Make[int](s, 64)
	b, errB := device.Make[float64](s, 64)
	err = errors.Join(errA, errB,
		bodies.Which(s, device.Blocks{X: 2}, a.All()), device.Download(s, ints, a.All()),
		bodies.WhichOf(s, device.Cover(64, 32), b.All()), device.Download(s, floats, b.All()),
		s.Synchronize(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range ints {
		if ints[i] != which || floats[i] != float64(of) {
			t.Errorf("%v: element %d: %d and %v, want %d and %d", dev.Info(), i, ints[i], floats[i], which, of)
			break
		}
	}
	if err := errors.Join(a.Close(), b.Close(), s.Close(), dev.Close()); err != nil {
		t.Error(err)
	}
}

// TestNone describes what a kernel needs and what there is.
func TestNone(t *testing.T) {
	dev, err := ptxinterp.OpenWith(ptxinterp.Options{Capability: device.Capability{Major: 8, Minor: 6}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	x, err := device.Make[int](s, 64)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(bodies.Late(s, device.Cover(64, 32), x.All()), s.Synchronize(t.Context()))
	if !errors.Is(err, device.ErrNoVariant) || !strings.Contains(err.Error(), "late: no variant of the kernel fits the device: PTX interpreter has compute capability 8.6, the kernel needs 8.9 or later") {
		t.Errorf("got the error %v", err)
	}
	if err := dev.Close(); err != nil && !errors.Is(err, device.ErrLeak) {
		t.Error(err)
	}
}
