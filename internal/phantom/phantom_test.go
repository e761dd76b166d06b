package phantom_test

import (
	"errors"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/phantom"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// TestPhantom runs a program on a CPU and on a device that looks like it: the memory in use has the same maximum. Results are zeros.
func TestPhantom(t *testing.T) {
	real, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	other := phantom.Open(real.Info())
	defer other.Close()
	if real.Info() != other.Info() {
		t.Errorf("%+v, want %+v", other.Info(), real.Info())
	}
	peak := func(dev *device.Device) (sum float32, peak int64) {
		err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
			s.Record()
			x := s.Variable(tensor.Full(s, 0.5, dtype.Float32, 300, 70))
			s.Backward(x.MatMul(x.T()).Softmax(1).Max(0).Sum())
			v, err := tensor.Values[float32](t.Context(), x.Grad().Add(x).Sum())
			if err == nil {
				sum = v[0]
			}
			return errors.Join(err, s.Stream().Synchronize(t.Context()))
		})
		stats, failed := dev.MemoryStats()
		if err := errors.Join(err, failed); err != nil || stats.Used != 0 {
			t.Fatalf("%d bytes in use, %v", stats.Used, err)
		}
		return sum, stats.Peak
	}
	sum, want := peak(real)
	zero, got := peak(other)
	if got != want || want < 300*300*4 || sum == 0 || zero != 0 {
		t.Errorf("%d bytes and a sum of %g, want %d bytes and 0; the sum on the CPU is %g", got, zero, want, sum)
	}
}

// TestLimit tests that the device's limit and its addresses are those of a device.
func TestLimit(t *testing.T) {
	dev := phantom.Open(device.Info{Kind: "cuda", Name: "a GPU"})
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	dev.SetMemoryLimit(1 << 40)
	a, err := device.Make[byte](s, 1<<39)
	b, other := device.Make[byte](s, 1)
	if err := errors.Join(err, other); err != nil || !a.All().Aligned(256) || !b.All().Aligned(256) || device.Overlap(a.All(), b.All()) {
		t.Errorf("buffers overlap or are not aligned, %v", err)
	}
	if _, err := device.Make[byte](s, 1<<39); !errors.Is(err, device.ErrMemory) {
		t.Errorf("beyond the limit: %v", err)
	}
	from, err := s.Record()
	to, other := s.Record()
	if err := errors.Join(err, other); err != nil {
		t.Fatal(err)
	}
	if took, err := to.Since(from); took != 0 || err != nil {
		t.Errorf("%v, %v", took, err)
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
}
