package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// report returns a report with every kind of entry.
func report() *Report {
	return &Report{
		Device: "NVIDIA H200 (cuda:0, compute capability 9.0, 140 GiB)",
		Date:   time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Twins:  "nvcc 13.0 -O3 -arch=sm_90",
		Results: []Result{
			{Name: "copy32", Group: Stream, Size: 1 << 28, Bytes: 1 << 31, Measurements: []Measurement{
				{By: Ours, Seconds: 0.0005}, {By: Literal, Seconds: 0.0006}, {By: Best, Seconds: 0.00049}}},
			{Name: "softmax", Group: "rows", Size: 16384, Bytes: 1 << 31, Measurements: []Measurement{
				{By: Ours, Seconds: 0.002}, {By: Literal, Seconds: 0.001}, {By: Best, Error: "wrong result: element 1 is 0"}, {By: "torch", Seconds: 0.001}}},
			{Name: "sgemm32", Group: "dense", Size: 4096, Bytes: 2e8, Flops: 2 << 36, Measurements: []Measurement{
				{By: Ours, Seconds: 0.01}, {By: Tuned, Seconds: 0.008}, {By: Literal, Seconds: 0.02}}},
			{Name: "mandelbrot32", Group: "points", Size: 8192, Measurements: []Measurement{{By: Ours, Seconds: 0.003}, {By: Unchecked, Seconds: 0.00297}}},
		},
		Peers:    []string{"PyTorch 2.11", "CUB 2.8"},
		Launches: []Launches{{0, 2e-6}, {16, 3.5e-6}},
		Skipped:  []Skip{{What: "spmv", Why: "wrong result: element 7 is 1, want 2"}},
	}
}

func TestWriteTable(t *testing.T) {
	const want = `NVIDIA H200 (cuda:0, compute capability 9.0, 140 GiB)
twins by nvcc 13.0 -O3 -arch=sm_90
beside PyTorch 2.11, CUB 2.8

case             size unit     plain  literal  ratio   tuned    best  ratio
copy32           2^28 GB/s      4295     3579  1.200       -    4383  0.980
softmax          2^14 GB/s      1074     2147  0.500       -       -  0.500
  best: wrong result: element 1 is 0
sgemm32          2^12 TFLOP/s   13.7    6.872  2.000    17.2       -  2.500
mandelbrot32     2^13 ms       3.000        -      -       -       -      -

case              size unit        ours     peer                    ratio
softmax           2^14 GB/s        1074     2147 torch              0.500
mandelbrot32      2^13 ms         3.000    2.970 unchecked          0.990

all but stream: geometric mean 1.118, worst 0.500 (softmax), of 2
stream: geometric mean 0.980, worst 0.980 (copy32), of 1
checks on against off: geometric mean 0.990, worst 0.990 (mandelbrot32), of 1
us a launch, by the number of arguments: 0: 2.00, 16: 3.50

bar                                     figure demand
suite without stream: faster twin, mean  1.118 >= 1.00 met
suite without stream: faster twin        0.500 >= 0.90 missed  softmax
checks on: checks off, mean              0.990 >= 0.98 met
checks on: checks off                    0.990 >= 0.95 met     mandelbrot32
float32 stream: literal twin             1.200 >= 1.20 in part copy32
  not measured: mul32, add32, triad32
softmax: PyTorch                         0.500 >= 1.20 missed
sgemm in plain tiles: literal twin       2.000 >= 0.95 in part sgemm32
  not measured: sgemm64
not measured: float32 stream: Triton; float64 stream and dot: literal twin;
  sum: PyTorch; transpose: copy on the device; scan: CUB; radix sort: CUB;
  product of float32: cuBLAS; products of bfloat16: cuBLAS; product of 8-bit
  floats: cuBLAS; all kernels compiled, s; compiling again without changes, s;
  a kernel from IR to PTX, median, ms; start, time: the bare driver program
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
	r.Join(&Report{
		Results: []Result{{Name: "copy32", Size: 1}, {Name: StartCached, Group: "start", Measurements: []Measurement{{By: Ours, Seconds: 0.24}, {By: Bare, Seconds: 0.2}}}},
		Skipped: []Skip{{What: "start-uncached", Why: "no bare program"}},
	})
	if r.Results[0].Size != 1<<28 {
		t.Error("another report's case took the place of ours")
	}
	if c := r.Case(StartCached); c == nil || c.Unit() != "ms" || c.figure(c.By(Ours)) != "240" {
		t.Errorf("the start is %+v", c)
	}
	want := []Skip{{What: "spmv", Why: "wrong result: element 7 is 1, want 2"}, {What: "another copy32", Why: "the report has one"}, {What: "start-uncached", Why: "no bare program"}}
	if diff := cmp.Diff(want, r.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
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
		t.Error("the page contains an invalid number")
	}
}

// TestWritePrograms tests the table of a report of bench/public.
func TestWritePrograms(t *testing.T) {
	r := &Report{Device: "NVIDIA H200", Public: true, Results: []Result{
		{Name: "srad", Group: "Rodinia", Size: 2048, Measurements: []Measurement{
			{By: Ours, Seconds: 0.0005, Registers: 32}, {By: Literal, Seconds: 0.0004, Registers: 30}}},
		{Name: "quasirandomGenerator", Group: "CUDA samples", Size: 1 << 24, Measurements: []Measurement{
			{By: Ours, Seconds: 0.001, Registers: 20}, {By: Literal, Seconds: 0.00125, Registers: 16}}},
		{Name: "correlation", Group: "PolyBench-GPU", Size: 100, Measurements: []Measurement{
			{By: Ours, Seconds: 0.02}, {By: Literal, Error: "wrong result: element 1 is 0"}}},
	}}
	const want = `NVIDIA H200

program                suite          size    Go ms  CUDA ms  ratio registers
srad                   Rodinia        2^11    0.500    0.400  0.800   32   30
quasirandomGenerator   CUDA samples   2^24    1.000    1.250  1.250   20   16
correlation            PolyBench-GPU   100     20.0        -      -    -    -
  literal: wrong result: element 1 is 0

geometric mean 1.000, worst 0.800 (srad), of 2
`
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("want (-) and got (+):\n%s", diff)
	}
}
