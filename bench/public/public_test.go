package public_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/harness/harnesstest"
	"github.com/gopherwarp/gopherwarp/bench/public"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/cpu"
)

// TestPrograms compares the programs with the list that was fixed before any was measured.
func TestPrograms(t *testing.T) {
	want := map[string]string{
		public.Rodinia:   "srad backprop gaussian hotspot3D streamcluster particlefilter lavaMD nn dwt2d",
		public.PolyBench: "atax bicg correlation fdtd2d gramschmidt syr2k",
		public.SHOC:      "md stencil2d md5hash fft",
		public.Parboil:   "cutcp mri-q sad tpacf",
		public.Samples:   "binomialOptions quasirandomGenerator dct8x8 mergeSort FDTD3d eigenvalues",
		public.Numba:     "laplace",
	}
	got := map[string]string{}
	for _, c := range public.Suite().Cases {
		got[c.Group] = strings.TrimSpace(got[c.Group] + " " + c.Name)
	}
	if !maps.Equal(got, want) {
		t.Errorf("the programs are %v, want %v", got, want)
	}
}

func TestCases(t *testing.T) { harnesstest.Cases(t, public.Suite()) }

func TestChecks(t *testing.T) { harnesstest.Checks(t, public.Suite()) }

func TestTwins(t *testing.T) { harnesstest.Twins(t, public.Suite()) }

func TestTwinLayouts(t *testing.T) { harnesstest.Layouts(t, public.Suite()) }

// TestRun measures a program on the CPU.
func TestRun(t *testing.T) {
	dev := harnesstest.Opened(t, cpu.Open)
	r, err := public.Run(t.Context(), dev, harness.Options{Only: regexp.MustCompile("^nn$")})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Public || len(r.Results) != 1 || r.Results[0].Name != "nn" || r.Results[0].By(report.Ours) == nil {
		t.Errorf("the report is %+v, want one of nn alone", r)
	}
}
