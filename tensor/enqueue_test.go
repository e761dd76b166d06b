package tensor_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Enqueue returns the first mistake, and what it enqueues is done when the stream is.
func TestEnqueue(t *testing.T) {
	stream, err := kerneltest.Device(t, cpu.Open).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	to, err := device.Make[float32](stream, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if err := tensor.Enqueue(t.Context(), stream, func(s *tensor.Scope) error {
		x, err := tensor.SliceOf[float32](tensor.From(s, []float32{1, 2, 3}, 3).Scale(2))
		if err != nil {
			return err
		}
		return device.Copy(stream, to.All(), x)
	}); err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 3)
	if err := errors.Join(device.Download(stream, got, to), stream.Synchronize(t.Context())); err != nil || got[0] != 2 || got[2] != 6 {
		t.Errorf("got %v, %v", got, err)
	}
	err = tensor.Enqueue(t.Context(), stream, func(s *tensor.Scope) error {
		tensor.From(s, []float32{1, 2}, 3)
		return nil
	})
	if !errors.Is(err, tensor.ErrShape) {
		t.Errorf("a mistake: %v", err)
	}
}

// Device.Owners and errors of memory name the lines of the program, not those of this package.
func TestOwners(t *testing.T) {
	dev := kerneltest.Device(t, cpu.Open)
	err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4}, 2, 2)
		x.Add(x).MatMul(x).Softmax(1).Sum()
		s.Tidy(func() *tensor.Tensor { return x.Reshape(4).Exp() })
		for _, o := range dev.Owners() {
			if !strings.HasPrefix(o.Site, "enqueue_test.go:") {
				t.Errorf("%d buffers of %s", o.Buffers, o.Site)
			}
		}
		if n := len(dev.Owners()); n != 3 {
			t.Errorf("%d lines own memory: %v", n, dev.Owners())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
