package suite

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/harness/harnesstest"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

func TestCases(t *testing.T) { harnesstest.Cases(t, Suite()) }

func TestChecks(t *testing.T) { harnesstest.Checks(t, Suite()) }

func TestTwins(t *testing.T) { harnesstest.Twins(t, Suite()) }

func TestTwinLayouts(t *testing.T) { harnesstest.Layouts(t, Suite()) }

// TestLayout compares harness.Layout with what the compiler generates.
func TestLayout(t *testing.T) {
	f := &harness.Array[float32]{}
	i := &harness.Array[int32]{}
	for _, test := range []struct {
		kernel *driver.Kernel
		args   []harness.Argument
	}{
		{empty0Kernel, nil},
		{spmvKernel, []harness.Argument{i, i, f, f, f}},
		{blackScholesKernel, []harness.Argument{f, f, f, f, f, harness.ByValue(market{})}},
		{monteCarloKernel, []harness.Argument{&harness.Array[uint64]{}, harness.ByValue(uint32(0))}},
		{stencil7Kernel, []harness.Argument{f, f, harness.ByValue(0), harness.ByValue(weights{})}},
		{nbodyKernel, []harness.Argument{&harness.Array[body]{}, &harness.Array[vector]{}}},
		{histogramKernel, []harness.Argument{&harness.Array[uint8]{}, &harness.Array[uint32]{}}},
	} {
		params, bytes := harness.Layout(test.args)
		var want []driver.Param
		for _, p := range test.kernel.Params {
			p.Name = ""
			want = append(want, p)
		}
		if diff := cmp.Diff(want, params); diff != "" || bytes != test.kernel.ParamBytes {
			t.Errorf("%s: layout has %d bytes, want %d; generated (-) and layout (+):\n%s", test.kernel.Name, bytes, test.kernel.ParamBytes, diff)
		}
	}
}

// TestBigSizes requires that cases limited by bandwidth do not fit a GPU's cache, which has 60 MB on the
// H200.
func TestBigSizes(t *testing.T) {
	dev := harnesstest.Opened(t, cpu.Open)
	for _, c := range Suite().Cases {
		_, w := harnesstest.Prepare(t, dev, c)
		r := report.Result{Bytes: w.Bytes, Flops: w.Flops}
		dimensions := 1.0
		switch {
		case c.Group == Move, c.Name == "prim-transpose":
			dimensions = 2
		case c.Group == Grids && c.Name != "spmv":
			dimensions = 3
		case c.Group == Rows, c.Group == Llama:
			continue // their rows grow too; they have 1 GiB or more
		}
		grown := w.Bytes * math.Pow(float64(c.Big)/float64(c.Small), dimensions)
		if r.Unit() == "GB/s" && grown < 4*60e6 {
			t.Errorf("%s moves %.3g bytes in its big size, want four times the cache at least", c.Name, grown)
		}
	}
}
