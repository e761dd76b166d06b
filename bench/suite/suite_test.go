package suite

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

func open(t *testing.T) *device.Device {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// TestCases runs every case in its small size on the CPU, compared with plain Go.
func TestCases(t *testing.T) {
	dev := open(t)
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			s, err := dev.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			b := &bench{stream: s, seed: 1}
			defer b.close()
			w := c.make(b, c.Small)
			if b.err != nil {
				t.Fatal(b.err)
			}
			ours := w.contenders(nil)[0]
			if err := b.verify(t.Context(), w, ours); err != nil {
				t.Fatal(err)
			}
			if w.bytes == 0 && w.flops == 0 && c.Group != Points && c.Name != "monte-carlo" {
				t.Error("the case says neither how many bytes it moves nor how much it computes")
			}
			// What no kernel has written is noticed.
			idle := contender{"idle", func(*device.Stream) error { return nil }}
			if err := b.verify(t.Context(), w, idle); err == nil {
				t.Error("the check passes without a run of the kernels")
			}
		})
	}
}
