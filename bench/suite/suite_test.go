package suite

import (
	"math"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
)

// prepare makes a case in its small size on a device.
func prepare(t *testing.T, dev *device.Device, c Case) (*bench, work) {
	t.Helper()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{stream: s, seed: 1}
	t.Cleanup(func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	})
	w := c.make(b, c.Small)
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b, w
}

// opened returns a device that the test closes at its end.
func opened(t *testing.T, open func() (*device.Device, error)) *device.Device {
	t.Helper()
	dev, err := open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// TestCases runs our kernels of every case, compared with plain Go: as Go, and their PTX.
func TestCases(t *testing.T) {
	for name, open := range map[string]func() (*device.Device, error){"cpu": cpu.Open, "interp": ptxinterp.Open} {
		dev := opened(t, open)
		for _, c := range Cases() {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				b, w := prepare(t, dev, c)
				for _, ours := range w.contenders(nil) {
					if err := b.verify(t.Context(), w, ours); err != nil {
						t.Errorf("%s: %v", ours.name, err)
					}
				}
			})
		}
	}
}

// TestChecks demands that a case's check notices outputs that no kernel has written.
func TestChecks(t *testing.T) {
	dev := opened(t, cpu.Open)
	idle := contender{name: "idle", run: func(*device.Stream) error { return nil }}
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			b, w := prepare(t, dev, c)
			err := b.verify(t.Context(), w, idle)
			if err == nil || !strings.Contains(err.Error(), "wrong result: ") {
				t.Errorf("verify returns %v, want a wrong result", err)
			}
		})
	}
}

// TestBigSizes demands that what is measured by its bandwidth does not fit a GPU's cache: 60 MB on
// the H200.
func TestBigSizes(t *testing.T) {
	dev := opened(t, cpu.Open)
	for _, c := range Cases() {
		_, w := prepare(t, dev, c)
		r := report.Result{Bytes: w.bytes, Flops: w.flops}
		dimensions := 1.0
		switch {
		case c.Group == Move, c.Name == "prim-transpose":
			dimensions = 2
		case c.Group == Grids && c.Name != "spmv":
			dimensions = 3
		case c.Group == Rows:
			continue // their rows grow too; they have 1 GiB
		}
		grown := w.bytes * math.Pow(float64(c.Big)/float64(c.Small), dimensions)
		if r.Unit() == "GB/s" && grown < 4*60e6 {
			t.Errorf("%s moves %.3g bytes in its big size, want four times the cache at least", c.Name, grown)
		}
	}
}
