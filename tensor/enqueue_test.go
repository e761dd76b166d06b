package tensor_test

import (
	"errors"
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
