package formats_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// TestUpload uploads the memory of a mapped file to the CPU device, and demands an error and a device that still works after another process
// has truncated the file.
func TestUpload(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not truncate a mapped file")
	}
	want := bytes.Repeat([]byte("weights "), 1<<17)
	x, err := weights.NewTensor(weights.Spec{Name: "x", Type: weights.U8, Shape: []int{len(want)}}, bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	f, err := weights.New(weights.Contents{Tensors: []*weights.Tensor{x}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x.safetensors")
	if err := safetensors.Save(name, f); err != nil {
		t.Fatal(err)
	}
	if f, err = formats.Open(name); err != nil {
		t.Fatal(err)
	}
	if err := f.Map(); err != nil {
		t.Fatal(err)
	}
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	upload := func() error {
		return f.Guard(func() error {
			b, err := f.Tensors[0].Bytes()
			if err != nil {
				return err
			}
			on, err := device.Upload(s, b)
			if err != nil {
				return err
			}
			got := make([]byte, len(want))
			err = errors.Join(device.Download(s, got, on), s.Synchronize(t.Context()), on.Close())
			if !bytes.Equal(got, want) {
				t.Error("other bytes arrived")
			}
			return err
		})
	}
	if err := upload(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, 4096); err != nil {
		t.Fatal(err)
	}
	if err := upload(); !errors.Is(err, weights.ErrTruncated) {
		t.Errorf("after the truncation: %v", err)
	}
	if err := errors.Join(s.Synchronize(t.Context()), s.Close(), dev.Close(), f.Close()); err != nil {
		t.Error(err)
	}
}
