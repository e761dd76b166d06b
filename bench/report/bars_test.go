package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// timed returns a case with times in ms.
func timed(name, group string, ms map[string]float64) Result {
	c := Result{Name: name, Group: group}
	for by, t := range ms {
		c.Measurements = append(c.Measurements, Measurement{By: by, Seconds: t / 1e3})
	}
	return c
}

func TestBars(t *testing.T) {
	r := &Report{Results: []Result{
		timed("copy32", Stream, map[string]float64{Ours: 1, Literal: 1.3, "triton": 0.99}),
		timed("mul32", Stream, map[string]float64{Ours: 1, Literal: 1.21, "triton": 0.98}),
		timed("add32", Stream, map[string]float64{Ours: 1, Literal: 1.4, "triton": 1}),
		timed("triad32", Stream, map[string]float64{Ours: 1, Literal: 1.25}),
		timed("sum", "reduce", map[string]float64{Ours: 2, Tuned: 1, Literal: 2, Best: 0.8, "torch": 0.96}),
		timed("softmax", "rows", map[string]float64{Ours: 1, Literal: 1, Unchecked: 0.9, "torch": 1.2}),
		timed("transpose", "move", map[string]float64{Ours: 1, Copied: 0.9}),
		timed(StartCached, "start", map[string]float64{Ours: 120, Bare: 100}),
		timed(StartUncached, "start", map[string]float64{Ours: 130, Bare: 100}),
		timed(CompileUnchanged, "compile", map[string]float64{Ours: 340}),
		timed(CompileKernel, "compile", map[string]float64{Ours: 1.5}),
	}}
	got := map[string]string{}
	for _, b := range r.Bars() {
		if b.Measured() {
			got[b.What] = strings.TrimSpace(digits(b.Figure) + " " + b.Demand() + " " + b.Verdict() + " " + b.Worst)
		}
	}
	want := map[string]string{
		"suite without stream: faster twin, mean": "0.894 >= 1.00 missed",
		"suite without stream: faster twin":       "0.800 >= 0.90 missed sum",
		"float32 stream: literal twin":            "1.210 >= 1.20 met mul32",
		"float32 stream: Triton":                  "0.980 >= 0.95 in part mul32",
		"sum: PyTorch":                            "0.960 >= 0.97 missed",
		"softmax: PyTorch":                        "1.200 >= 1.20 met",
		"transpose: copy on the device":           "0.900 >= 0.85 met",
		"checks on: checks off, mean":             "0.900 >= 0.98 missed",
		"checks on: checks off":                   "0.900 >= 0.95 missed softmax",
		"start, time: the bare driver program":    "1.300 <= 1.25 missed start-uncached",
		"compiling again without changes, s":      "0.340 <= 0.50 met",
		"a kernel from IR to PTX, median, ms":     "1.500 <= 5.00 met",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bars (-want +got):\n%s", diff)
	}
}
