package suite_test

import (
	"math"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/harness/harnesstest"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/bench/suite"
	"github.com/gopherwarp/gopherwarp/cpu"
)

// TestRun measures some cases on the CPU.
func TestRun(t *testing.T) {
	dev := harnesstest.Opened(t, cpu.Open)
	var seen []string
	r, err := suite.Run(t.Context(), dev, harness.Options{
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
		if m == nil || m.Rounds != 3 || m.Fastest > m.Seconds || m.Seconds > m.Slowest || math.IsInf(c.In(m.Seconds), 0) {
			t.Errorf("%s: %+v", c.Name, m)
		}
	}
	if len(r.Launches) != 6 || r.Launches[5].Arguments != 16 || r.Launches[5].Seconds <= 0 {
		t.Errorf("launches: %+v", r.Launches)
	}
	if want := []report.Skip{{What: "CUDA C++ twins", Why: "the device is no CUDA GPU"}}; !cmp.Equal(r.Skipped, want) {
		t.Errorf("skipped: %v", r.Skipped)
	}
}
