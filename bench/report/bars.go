package report

import (
	"fmt"
	"slices"
)

// Bar is a requirement of the project: a ratio of our speed to another speed that must be reached,
// or a time that must not be exceeded.
type Bar struct {
	What   string  `json:"what"`
	Figure float64 `json:"figure"` // 0 if nothing was measured
	Bound  float64 `json:"bound"`
	AtMost bool    `json:"at_most,omitempty"` // the bound is an upper bound
	Worst  string  `json:"worst,omitempty"`   // the case that the figure belongs to, if there are several
	// Missing lists the bar's cases that were not measured.
	Missing []string `json:"missing,omitempty"`
}

// Measured reports whether the report contains the figure.
func (b Bar) Measured() bool { return b.Figure > 0 }

// Met reports whether the figure meets the bound, and all cases of the bar were measured.
func (b Bar) Met() bool { return b.Measured() && !b.broken() && len(b.Missing) == 0 }

func (b Bar) broken() bool { return b.Figure > b.Bound == b.AtMost && b.Figure != b.Bound }

// Verdict returns "met", "missed", or, if cases were not measured, "in part" or "unknown".
func (b Bar) Verdict() string {
	switch {
	case !b.Measured():
		return "unknown"
	case b.broken():
		return "missed"
	case b.Met():
		return "met"
	}
	return "in part"
}

// Demand returns the bound as text.
func (b Bar) Demand() string {
	if b.AtMost {
		return fmt.Sprintf("<= %.2f", b.Bound)
	}
	return fmt.Sprintf(">= %.2f", b.Bound)
}

// Names of the results of bench/start and bench/compile that bars refer to.
const (
	StartCached      = "start-cached"
	StartUncached    = "start-uncached"
	CompileCold      = "compile-cold"
	CompileUnchanged = "compile-unchanged"
	CompileKernel    = "compile-kernel"
	Bare             = "bare" // the driver alone, in C
)

// Bars returns the project's bars with the report's figures. If a bar has several cases, its figure
// is that of the worst case. A report of bench/public has no bars.
func (r *Report) Bars() []Bar {
	if r.Public {
		return nil
	}
	suite := r.Summarize(func(c Result) bool { return c.Group != Stream })
	checks := r.SummarizeChecks()
	bars := []Bar{
		{What: "suite without stream: faster twin, mean", Bound: 1, Figure: suite.figure(suite.Mean)},
		{What: "suite without stream: faster twin", Bound: 0.9, Figure: suite.figure(suite.Worst), Worst: suite.WorstCase},
		{What: "checks on: checks off, mean", Bound: 0.98, Figure: checks.figure(checks.Mean)},
		{What: "checks on: checks off", Bound: 0.95, Figure: checks.figure(checks.Worst), Worst: checks.WorstCase},
	}
	for _, d := range demands() {
		bars = append(bars, d.on(r))
	}
	return bars
}

// demand is a bar on some cases.
type demand struct {
	what   string
	bound  float64
	atMost bool
	cases  []string
	of     func(*Result) (figure float64, ok bool)
}

func demands() []demand {
	plain := []string{"copy32", "mul32", "add32", "triad32"}
	double := []string{"copy64", "mul64", "add64", "triad64", "dot64", "dot32"}
	return []demand{
		{"float32 stream: literal twin", 1.2, false, plain, plainOver(Literal)},
		{"float32 stream: Triton", 0.95, false, plain, plainOver("triton")},
		{"float64 stream and dot: literal twin", 1, false, double, plainOver(Literal)},
		{"sum: PyTorch", 0.97, false, []string{"sum"}, over("torch")},
		{"transpose: copy on the device", 0.85, false, []string{"transpose"}, over(Copied)},
		{"softmax: PyTorch", 1.2, false, []string{"softmax"}, over("torch")},
		{"scan: CUB", 0.85, false, []string{"prim-scan"}, over("CUB")},
		{"radix sort: CUB", 0.7, false, []string{"prim-sort"}, over("CUB")},
		{"sgemm in plain tiles: literal twin", 0.95, false, []string{"sgemm32", "sgemm64"}, plainOver(Literal)},
		{"product of float32: cuBLAS", 0.85, false, []string{"product-f32"}, over(CuBLAS)},
		{"products of bfloat16: cuBLAS", 0.9, false, []string{"product-bf16", "product-bf16-4k"}, over(CuBLAS)},
		{"product of 8-bit floats: cuBLAS", 0.8, false, []string{"product-fp8"}, over(CuBLAS)},
		{"all kernels compiled, s", 5, true, []string{CompileCold}, times(1)},
		{"compiling again without changes, s", 0.5, true, []string{CompileUnchanged}, times(1)},
		{"a kernel from IR to PTX, median, ms", 5, true, []string{CompileKernel}, times(1e3)},
		{"start, time: the bare driver program", 1.25, true, []string{StartCached, StartUncached}, func(c *Result) (float64, bool) {
			return ratio(c.By(Bare), c.By(Ours))
		}},
	}
}

// figure returns v, or 0 if the summary has no cases.
func (s Summary) figure(v float64) float64 {
	if s.Cases == 0 {
		return 0
	}
	return v
}

// plainOver returns a function for the speed of our plain kernel relative to theirs.
func plainOver(them string) func(*Result) (float64, bool) {
	return func(c *Result) (float64, bool) { return ratio(c.By(Ours), c.By(them)) }
}

// over returns a function for the speed of our faster kernel relative to theirs.
func over(them string) func(*Result) (float64, bool) {
	return func(c *Result) (float64, bool) { return ratio(c.Fastest(Ours, Tuned), c.By(them)) }
}

// times returns a function for our time in seconds, multiplied by a unit.
func times(unit float64) func(*Result) (float64, bool) {
	return func(c *Result) (float64, bool) {
		m := c.By(Ours)
		if m == nil {
			return 0, false
		}
		return unit * m.Seconds, true
	}
}

// on returns the bar with a report's figures.
func (d demand) on(r *Report) Bar {
	b := Bar{What: d.what, Bound: d.bound, AtMost: d.atMost}
	for _, name := range d.cases {
		figure, ok := 0.0, false
		if c := r.Case(name); c != nil {
			figure, ok = d.of(c)
		}
		switch {
		case !ok:
			b.Missing = append(b.Missing, name)
		case !b.Measured() || figure < b.Figure != d.atMost:
			b.Figure, b.Worst = figure, name
		}
	}
	if len(d.cases) == 1 {
		b.Worst = ""
	}
	return b
}

// Case returns the result with the given name, or nil.
func (r *Report) Case(name string) *Result {
	i := slices.IndexFunc(r.Results, func(c Result) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Results[i]
}
