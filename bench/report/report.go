package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// Report is the result of a benchmark run. Other programs in bench write the same JSON.
type Report struct {
	Device   string     `json:"device"`
	Driver   string     `json:"driver,omitempty"`
	Date     time.Time  `json:"date"`
	Commit   string     `json:"commit,omitempty"` // the commit that the program was built from
	Twins    string     `json:"twins,omitempty"`  // how the twins were compiled
	Peers    []string   `json:"peers,omitempty"`  // names and versions
	Seed     uint64     `json:"seed"`
	Quick    bool       `json:"quick,omitempty"`
	Public   bool       `json:"public,omitempty"` // whether the report is of bench/public; the groups of the results are then the suites of its programs
	Results  []Result   `json:"results"`
	Launches []Launches `json:"launches,omitempty"`
	Skipped  []Skip     `json:"skipped,omitempty"`
}

// Result contains the measurements of a case.
type Result struct {
	Name  string `json:"name"`
	Group string `json:"group"` // a page and a summary present the cases of a group together
	Size  int    `json:"size"`
	// Bytes and Flops count the bytes and the floating-point operations of one run; 0 if they do not apply.
	Bytes        float64       `json:"bytes,omitempty"`
	Flops        float64       `json:"flops,omitempty"`
	Measurements []Measurement `json:"measurements"`
}

// Stream is the Group of the results of BabelStream's kernels: copy, mul, add and triad. This group has bars of its own.
const Stream = "stream"

// The possible values of Measurement.By, besides the names of peers.
const (
	Ours    = "gopherwarp" // our plain kernel, as a newcomer writes it in Go
	Tuned   = "tuned"      // our kernel, as an expert writes it in Go
	Literal = "literal"    // the literal twin: our plain kernel, translated line by line to CUDA C++
	Best    = "best"       // the best twin: the kernel, as an expert writes it in CUDA C++
	// Unchecked is our kernel, compiled without checks.
	Unchecked = "unchecked"
	Copied    = "copy"   // the driver's copy within the device
	CuBLAS    = "cuBLAS" // the product of the same operands by cuBLAS, in the same process
)

// Measurement is the time of one run by one contender, in seconds.
type Measurement struct {
	By      string  `json:"by"`
	Seconds float64 `json:"seconds,omitempty"` // the median
	Fastest float64 `json:"fastest,omitempty"`
	Slowest float64 `json:"slowest,omitempty"`
	Rounds  int     `json:"rounds,omitempty"`
	// Registers is the number of registers per thread of the kernel that uses the most, on a GPU.
	Registers int    `json:"registers,omitempty"`
	Error     string `json:"error,omitempty"` // if Seconds is 0, the reason
}

// Launches is the host's time for a launch with the given number of arguments, in seconds.
type Launches struct {
	Arguments int     `json:"arguments"`
	Seconds   float64 `json:"seconds"`
}

// Micros returns the time in microseconds.
func (l Launches) Micros() float64 { return l.Seconds * 1e6 }

// Skip is a case, a framework or another part of the report that was not measured.
type Skip struct {
	What   string `json:"what"`
	Why    string `json:"why"`
	Failed bool   `json:"failed,omitempty"` // whether the case failed: its results are wrong, or its kernels returned an error
}

// Skip records what was not measured, and why.
func (r *Report) Skip(what, why string) { r.Skipped = append(r.Skipped, Skip{What: what, Why: why}) }

// Fail records a case that could not be measured, and the error.
func (r *Report) Fail(what string, err error) {
	r.Skipped = append(r.Skipped, Skip{What: what, Why: err.Error(), Failed: true})
}

// Failed returns the names of the cases that could not be measured.
func (r *Report) Failed() []string {
	var names []string
	for _, s := range r.Skipped {
		if s.Failed {
			names = append(names, s.What)
		}
	}
	return names
}

// By returns the measurement of a contender, or nil if it has no time.
func (r *Result) By(who string) *Measurement {
	i := slices.IndexFunc(r.Measurements, func(m Measurement) bool { return m.By == who && m.Seconds > 0 })
	if i < 0 {
		return nil
	}
	return &r.Measurements[i]
}

// Ratio returns the speed of our faster kernel relative to the faster twin; false if either was not
// measured.
func (r *Result) Ratio() (float64, bool) {
	return ratio(r.Fastest(Ours, Tuned), r.Fastest(Literal, Best))
}

// LiteralRatio returns the speed of our plain kernel relative to the literal twin.
func (r *Result) LiteralRatio() (float64, bool) { return ratio(r.By(Ours), r.By(Literal)) }

func ratio(ours, theirs *Measurement) (float64, bool) {
	if ours == nil || theirs == nil {
		return 0, false
	}
	return theirs.Seconds / ours.Seconds, true
}

// Fastest returns the fastest measurement of the given contenders, or nil.
func (r *Result) Fastest(by ...string) (best *Measurement) {
	for _, who := range by {
		if m := r.By(who); m != nil && (best == nil || m.Seconds < best.Seconds) {
			best = m
		}
	}
	return best
}

// Checked returns the speed of our kernel divided by its speed without checks; false if either was
// not measured.
func (r *Result) Checked() (float64, bool) {
	ours, bare := r.By(Ours), r.By(Unchecked)
	if ours == nil || bare == nil {
		return 0, false
	}
	return bare.Seconds / ours.Seconds, true
}

// Summary summarizes the cases that have a ratio.
type Summary struct {
	Cases     int     // number of cases
	Mean      float64 // geometric mean of the ratios
	Worst     float64
	WorstCase string
}

// Summarize returns the summary of the cases for which include returns true.
func (r *Report) Summarize(include func(Result) bool) Summary {
	return r.summarize(func(c Result) (float64, bool) {
		ratio, ok := c.Ratio()
		return ratio, ok && include(c)
	})
}

// SummarizeChecks returns the summary of the cost of checks, over the cases that measure it.
func (r *Report) SummarizeChecks() Summary {
	return r.summarize(func(c Result) (float64, bool) { return c.Checked() })
}

func (r *Report) summarize(of func(Result) (float64, bool)) Summary {
	s := Summary{Worst: math.Inf(1)}
	var logs float64
	for _, c := range r.Results {
		ratio, ok := of(c)
		if !ok {
			continue
		}
		s.Cases++
		logs += math.Log(ratio)
		if ratio < s.Worst {
			s.Worst, s.WorstCase = ratio, c.Name
		}
	}
	s.Mean = math.Exp(logs / float64(max(s.Cases, 1)))
	return s
}

// Join adds the cases of another program's report. It does not replace cases of r.
func (r *Report) Join(other *Report) {
	for _, c := range other.Results {
		if r.Case(c.Name) != nil {
			r.Skip("another "+c.Name, "the report has one")
			continue
		}
		r.Results = append(r.Results, c)
	}
	r.Skipped = append(r.Skipped, other.Skipped...)
}

// WriteJSON writes the report for ReadJSON, and the bars for other programs.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		*Report
		Bars []Bar `json:"bars"`
	}{r, r.Bars()})
}

// ReadJSON reads a report.
func ReadJSON(src io.Reader) (*Report, error) {
	r := &Report{}
	if err := json.NewDecoder(src).Decode(r); err != nil {
		return nil, fmt.Errorf("bench: report: %w", err)
	}
	return r, nil
}
