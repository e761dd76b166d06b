package suite_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/harness/harnesstest"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/bench/suite"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

func TestCases(t *testing.T) { harnesstest.Cases(t, suite.Suite()) }

func TestChecks(t *testing.T) { harnesstest.Checks(t, suite.Suite()) }

func TestTwins(t *testing.T) { harnesstest.Twins(t, suite.Suite()) }

func TestTwinLayouts(t *testing.T) { harnesstest.Layouts(t, suite.Suite()) }

// TestLayout compares harness.Layout with what the compiler generates, for launches with arguments of all kinds.
func TestLayout(t *testing.T) {
	dev := harnesstest.Opened(t, cpu.Open)
	done := harnesstest.Watch(t, dev)
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(suite.Empty0(s, device.Cover(1, 1)), s.Synchronize(t.Context())); err != nil {
		t.Fatal(err)
	}
	compareLayout(t, done.Kernel(t, "empty0"), nil)
	names := []string{"spmv", "black-scholes", "monte-carlo", "stencil7", "n-body", "histogram"}
	for _, c := range suite.Suite().Cases {
		i := slices.Index(names, c.Name)
		if i < 0 {
			continue
		}
		names = slices.Delete(names, i, i+1)
		b, w := harnesstest.Prepare(t, dev, c)
		if err := b.Verify(t.Context(), w, w.Contenders(nil)[0]); err != nil {
			t.Fatal(err)
		}
		l := w.Ours[0]
		compareLayout(t, done.Kernel(t, l.Name), l.Args)
	}
	if len(names) != 0 {
		t.Errorf("there are no cases %q", names)
	}
}

// compareLayout compares the parameters of a kernel with the layout of its arguments.
func compareLayout(t *testing.T, k *driver.Kernel, args []harness.Argument) {
	t.Helper()
	params, bytes := harness.Layout(args)
	var want []driver.Param
	for _, p := range k.Params {
		p.Name = ""
		want = append(want, p)
	}
	if diff := cmp.Diff(want, params); diff != "" || bytes != k.ParamBytes {
		t.Errorf("%s: layout has %d bytes, want %d; generated (-) and layout (+):\n%s", k.Name, bytes, k.ParamBytes, diff)
	}
}

// TestBigSizes requires that cases limited by bandwidth do not fit a GPU's cache, which has 60 MB on the
// H200.
func TestBigSizes(t *testing.T) {
	dev := harnesstest.Opened(t, cpu.Open)
	for _, c := range suite.Suite().Cases {
		_, w := harnesstest.Prepare(t, dev, c)
		r := report.Result{Bytes: w.Bytes, Flops: w.Flops}
		dimensions := 1.0
		switch {
		case c.Group == suite.Move, c.Name == "prim-transpose":
			dimensions = 2
		case c.Group == suite.Grids && c.Name != "spmv":
			dimensions = 3
		case c.Group == suite.Rows, c.Group == suite.Llama:
			continue // their rows grow too; they have 1 GiB or more
		}
		grown := w.Bytes * math.Pow(float64(c.Big)/float64(c.Small), dimensions)
		if r.Unit() == "GB/s" && grown < 4*60e6 {
			t.Errorf("%s moves %.3g bytes in its big size, want four times the cache at least", c.Name, grown)
		}
	}
}
