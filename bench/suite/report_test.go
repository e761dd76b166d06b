package suite

import (
	"bytes"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

// report is one with all that a report can have.
func report() *Report {
	return &Report{
		Device: "NVIDIA H200 (cuda:0, compute capability 9.0, 140 GiB)",
		Date:   time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Twins:  "nvcc 13.0 -O3 -arch=sm_90",
		Results: []Result{
			{Name: "copy32", Group: Stream, Size: 1 << 28, Bytes: 1 << 31, Measurements: []Measurement{
				{By: Ours, Seconds: 0.0005}, {By: Literal, Seconds: 0.0006}, {By: Best, Seconds: 0.00049}}},
			{Name: "softmax", Group: Rows, Size: 16384, Bytes: 1 << 31, Measurements: []Measurement{
				{By: Ours, Seconds: 0.002}, {By: Literal, Seconds: 0.001}, {By: Best, Error: "wrong result: element 1 is 0"}, {By: "torch", Seconds: 0.001}}},
			{Name: "sgemm32", Group: Dense, Size: 4096, Bytes: 2e8, Flops: 2 << 36, Measurements: []Measurement{
				{By: Ours, Seconds: 0.01}, {By: Tuned, Seconds: 0.008}, {By: Literal, Seconds: 0.02}}},
			{Name: "mandelbrot32", Group: Points, Size: 8192, Measurements: []Measurement{{By: Ours, Seconds: 0.003}, {By: Unchecked, Seconds: 0.00297}}},
		},
		Launches: []Launches{{0, 2e-6}, {16, 3.5e-6}},
		Skipped:  []Skip{{"spmv", "wrong result: element 7 is 1, want 2"}},
	}
}

func TestWriteTable(t *testing.T) {
	const want = `NVIDIA H200 (cuda:0, compute capability 9.0, 140 GiB)
twins by nvcc 13.0 -O3 -arch=sm_90

case             size unit     plain  literal  ratio   tuned    best  ratio
copy32           2^28 GB/s      4295     3579  1.200       -    4383  0.980
softmax          2^14 GB/s      1074     2147  0.500       -       -  0.500
  best: wrong result: element 1 is 0
sgemm32          2^12 TFLOP/s   13.7    6.872  2.000    17.2       -  2.500
mandelbrot32     2^13 ms       3.000        -      -       -       -      -

case                size  unit         peer                          ratio
softmax             2^14  GB/s         2147 torch                    0.500
mandelbrot32        2^13  ms          2.970 unchecked                0.990

all but stream: geometric mean 1.118, worst 0.500 (softmax), of 2
stream: geometric mean 0.980, worst 0.980 (copy32), of 1
checks on against off: geometric mean 0.990, worst 0.990 (mandelbrot32), of 1
us a launch, by the number of arguments: 0: 2.00, 16: 3.50
skipped spmv: wrong result: element 7 is 1, want 2
`
	var b strings.Builder
	if err := report().WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > lineWidth+1 {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	if err := report().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report(), got); diff != "" {
		t.Errorf("read (-written +read):\n%s", diff)
	}
	if _, err := ReadJSON(strings.NewReader("[]")); err == nil || !strings.HasPrefix(err.Error(), "bench: report: ") {
		t.Errorf("ReadJSON of another file returns %v", err)
	}
}

func TestChanges(t *testing.T) {
	earlier := report()
	earlier.Results[0].Measurements[0].Seconds = 0.001
	earlier.Results[1].Size = 1
	var b strings.Builder
	if err := report().WriteChanges(&b, earlier); err != nil {
		t.Fatal(err)
	}
	const want = `
since 2026-11-20 12:00, NVIDIA H200 (cuda:0, compute capability 9.0, 140 GiB):
case                  then ms       now ms     speed
copy32                  1.000        0.500     2.000
sgemm32                 8.000        8.000     1.000
mandelbrot32            3.000        3.000     1.000
geometric mean of the speed: 1.260
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestJoin(t *testing.T) {
	r := report()
	r.Join(&Report{Results: []Result{
		{Name: "copy32", Size: 1 << 28, Measurements: []Measurement{{By: "triton", Seconds: 0.0004}}},
		{Name: "softmax", Size: 1, Measurements: []Measurement{{By: "cupy", Seconds: 0.0004}}},
		{Name: "radix-sort", Size: 1 << 26, Measurements: []Measurement{{By: "cub", Seconds: 0.004}}},
	}})
	if m := r.Results[0].by("triton"); m == nil || m.Seconds != 0.0004 {
		t.Errorf("copy32 by triton is %v", m)
	}
	if m := r.Results[1].by("cupy"); m != nil {
		t.Errorf("softmax of another size was joined: %v", m)
	}
	if last := r.Results[len(r.Results)-1]; last.Name != "radix-sort" {
		t.Errorf("the last case is %s, want the peers' own", last.Name)
	}
	if last := r.Skipped[len(r.Skipped)-1]; last.What != "softmax of peers" {
		t.Errorf("skipped last is %v", last)
	}
	if failed := r.Failed(); !cmp.Equal(failed, []string{"spmv"}) {
		t.Errorf("failed are %q, want spmv alone", failed)
	}
}

func TestWritePage(t *testing.T) {
	var b strings.Builder
	r := report()
	r.Results[0].Name = "<copy>"
	if err := r.WritePage(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"&lt;copy&gt;", "geometric mean <b>1.118</b>", `class="gopherwarp"`, "Roofline", "<td>3.50</td>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Error("the page has a number that is none")
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
		m := c.by(Ours)
		if m == nil || m.Rounds != cpuRounds || m.Fastest > m.Seconds || m.Seconds > m.Slowest || math.IsInf(c.In(m.Seconds), 0) {
			t.Errorf("%s: %+v", c.Name, m)
		}
	}
	if len(r.Launches) != 6 || r.Launches[5].Arguments != 16 || r.Launches[5].Seconds <= 0 {
		t.Errorf("launches: %+v", r.Launches)
	}
	if want := []Skip{{"CUDA C++ twins", "the device is no GPU"}}; !cmp.Equal(r.Skipped, want) {
		t.Errorf("skipped: %v", r.Skipped)
	}
}
