package public

import (
	"regexp"
	"testing"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/harness/harnesstest"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/cpu"
)

func TestCases(t *testing.T) { harnesstest.Cases(t, Suite()) }

func TestChecks(t *testing.T) { harnesstest.Checks(t, Suite()) }

func TestTwins(t *testing.T) { harnesstest.Twins(t, Suite()) }

func TestTwinLayouts(t *testing.T) { harnesstest.Layouts(t, Suite()) }

// TestRun measures a program on the CPU.
func TestRun(t *testing.T) {
	dev := harnesstest.Opened(t, cpu.Open)
	r, err := Run(t.Context(), dev, harness.Options{Only: regexp.MustCompile("^nn$")})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Public || len(r.Results) != 1 || r.Results[0].Name != "nn" || r.Results[0].By(report.Ours) == nil {
		t.Errorf("the report is %+v, want one of nn alone", r)
	}
}
