package suite

import (
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

func TestFailed(t *testing.T) {
	r := &report.Report{Skipped: []report.Skip{{What: "spmv", Why: "wrong"}, {What: "peer torch", Why: "is not there"}}}
	if failed := Failed(r); !cmp.Equal(failed, []string{"spmv"}) {
		t.Errorf("failed are %q, want spmv alone", failed)
	}
}

// TestCompileTwins looks at why there are no twins.
func TestCompileTwins(t *testing.T) {
	gpu := device.Info{Kind: "cuda", Capability: device.Capability{Major: 9}}
	for _, test := range []struct {
		nvcc string
		info device.Info
		want string
	}{
		{"nvcc", device.Info{Kind: "cpu"}, "the device is no GPU"},
		{"", gpu, "there is no nvcc"},
		{filepath.Join(t.TempDir(), "nvcc"), gpu, "nvcc: "},
	} {
		_, err := compileTwins(t.Context(), test.nvcc, test.info)
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("compileTwins(%q, %v) returns %v, want %s", test.nvcc, test.info, err, test.want)
		}
	}
}

func TestMeasures(t *testing.T) {
	for only, want := range map[string]bool{"": true, "^prim$": true, "prim-sort": true, "stream|softmax": false} {
		if got := (Options{Only: regexp.MustCompile(only)}).Measures(Prim); got != want {
			t.Errorf("%q measures prim: %v, want %v", only, got, want)
		}
	}
}

// TestRun measures some cases on the CPU.
func TestRun(t *testing.T) {
	dev := opened(t, cpu.Open)
	var seen []string
	r, err := Run(t.Context(), dev, Options{
		NVCC: "nvcc", Only: regexp.MustCompile("^(add32|softmax|launch)$"), Seed: 7,
		Progress: func(name string) { seen = append(seen, name) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"add32", "softmax", "launch"}; !cmp.Equal(seen, want) {
		t.Errorf("measured %q, want %q", seen, want)
	}
	for _, c := range r.Results {
		m := c.By(report.Ours)
		if m == nil || m.Rounds != cpuRounds || m.Fastest > m.Seconds || m.Seconds > m.Slowest || math.IsInf(c.In(m.Seconds), 0) {
			t.Errorf("%s: %+v", c.Name, m)
		}
	}
	if len(r.Launches) != 6 || r.Launches[5].Arguments != 16 || r.Launches[5].Seconds <= 0 {
		t.Errorf("launches: %+v", r.Launches)
	}
	if want := []report.Skip{{What: "CUDA C++ twins", Why: "the device is no GPU"}}; !cmp.Equal(r.Skipped, want) {
		t.Errorf("skipped: %v", r.Skipped)
	}
}
