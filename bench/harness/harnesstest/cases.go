package harnesstest

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/ondemand"
)

// Prepare makes a case in its small size on a device. The end of the test frees it.
func Prepare(t *testing.T, dev *device.Device, c harness.Case) (*harness.Bench, harness.Work) {
	t.Helper()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	b := harness.NewBench(s, 1)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	w := c.Make(b, c.Small)
	if err := b.Err(); err != nil {
		t.Fatal(err)
	}
	return b, w
}

// Opened returns a device that the test closes at its end.
func Opened(t *testing.T, open func() (*device.Device, error)) *device.Device {
	t.Helper()
	dev, err := open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// Cases runs our kernels of every case on the CPU, and their PTX in the interpreter, and compares
// the results with plain Go.
func Cases(t *testing.T, suite harness.Suite) {
	for name, open := range map[string]func() (*device.Device, error){"cpu": cpu.Open, "interp": ptxinterp.Open} {
		dev := Opened(t, open)
		for _, c := range suite.Cases {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				if name == "interp" {
					ondemand.NeedsCode(t)
				}
				b, w := Prepare(t, dev, c)
				for _, ours := range w.Contenders(nil) {
					if err := b.Verify(t.Context(), w, ours); err != nil {
						t.Errorf("%s: %v", ours.Name, err)
					}
				}
			})
		}
	}
}

// Checks requires that a case's check detects outputs that no kernel has written.
func Checks(t *testing.T, suite harness.Suite) {
	dev := Opened(t, cpu.Open)
	idle := harness.Contender{Name: "idle", Run: func(*device.Stream) error { return nil }}
	for _, c := range suite.Cases {
		t.Run(c.Name, func(t *testing.T) {
			b, w := Prepare(t, dev, c)
			err := b.Verify(t.Context(), w, idle)
			if err == nil || !strings.Contains(err.Error(), "wrong result: ") {
				t.Errorf("Verify returns %v, want a wrong result", err)
			}
		})
	}
}

// Twins runs the CUDA C++ twins of every case, compiled to PTX by nvcc, in the interpreter.
func Twins(t *testing.T, suite harness.Suite) {
	nvcc := harness.FindNVCC()
	if nvcc == "" {
		t.Skip("nvcc is not installed")
	}
	dev := Opened(t, ptxinterp.Open)
	twins, err := harness.CompileTwins(t.Context(), suite.Twins, nvcc, dev.Info())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range suite.Cases {
		t.Run(c.Name, func(t *testing.T) {
			b, w := Prepare(t, dev, c)
			for _, twin := range w.Contenders(twins) {
				if twin.Name != report.Literal && twin.Name != report.Best {
					continue
				}
				switch err := b.Verify(t.Context(), w, twin); {
				case err == nil:
				case strings.Contains(err.Error(), unsupported):
					t.Skipf("the interpreter lacks an instruction that nvcc emits: %v", err)
				default:
					t.Errorf("%s: %v", twin.Name, err)
				}
			}
		})
	}
}

// unsupported is part of the interpreter's errors about instructions that it does not implement.
const unsupported = "is not supported here"
