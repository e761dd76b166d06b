package suite

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// Report is what a run measured. Its JSON is also what the scripts in bench/peers write.
type Report struct {
	Device   string     `json:"device"`
	Driver   string     `json:"driver,omitempty"`
	Date     time.Time  `json:"date"`
	Commit   string     `json:"commit,omitempty"` // of this program
	Twins    string     `json:"twins,omitempty"`  // how they were compiled
	Peers    []string   `json:"peers,omitempty"`  // that took part, with their versions
	Seed     uint64     `json:"seed"`
	Quick    bool       `json:"quick,omitempty"`
	Results  []Result   `json:"results"`
	Launches []Launches `json:"launches,omitempty"`
	Skipped  []Skip     `json:"skipped,omitempty"`
}

// Result is what was measured in a case.
type Result struct {
	Name  string `json:"name"`
	Group string `json:"group"`
	Size  int    `json:"size"`
	// Bytes and Flops are those of one run; 0 where they say nothing.
	Bytes        float64       `json:"bytes,omitempty"`
	Flops        float64       `json:"flops,omitempty"`
	Measurements []Measurement `json:"measurements"`
}

// Who a Measurement may be by; peers have names of their own.
const (
	Ours    = "gopherwarp"
	Tuned   = "tuned"   // ours, as an expert writes it in Go
	Literal = "literal" // twin: line by line in CUDA C++
	Best    = "best"    // twin: as an expert writes it
	// Unchecked is ours, compiled without checks.
	Unchecked = "unchecked"
	Copied    = "copy"   // the driver's, from device to device
	CuBLAS    = "cuBLAS" // on the same operands in the same process
)

// Measurement is the time of one run by one contender, in seconds.
type Measurement struct {
	By      string  `json:"by"`
	Seconds float64 `json:"seconds,omitempty"` // the median
	Fastest float64 `json:"fastest,omitempty"`
	Slowest float64 `json:"slowest,omitempty"`
	Rounds  int     `json:"rounds,omitempty"`
	Error   string  `json:"error,omitempty"` // why there is no time
}

// Launches is the host's cost of a launch, in seconds, with so many arguments.
type Launches struct {
	Arguments int     `json:"arguments"`
	Seconds   float64 `json:"seconds"`
}

// Micros returns the cost in microseconds.
func (l Launches) Micros() float64 { return l.Seconds * 1e6 }

// Skip is something that was not measured.
type Skip struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

func newReport(i device.Info, o Options) *Report {
	r := &Report{Device: i.String(), Driver: i.Driver, Date: time.Now().UTC().Truncate(time.Second), Seed: o.Seed, Quick: o.Quick}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			switch {
			case s.Key == "vcs.revision":
				r.Commit = s.Value + r.Commit
			case s.Key == "vcs.modified" && s.Value == "true":
				r.Commit += " with changes"
			}
		}
	}
	return r
}

func (r *Report) skip(what, why string) { r.Skipped = append(r.Skipped, Skip{what, why}) }

// by returns the measurement of one of them, or nil where there is none with a time.
func (r *Result) by(who string) *Measurement {
	i := slices.IndexFunc(r.Measurements, func(m Measurement) bool { return m.By == who && m.Seconds > 0 })
	if i < 0 {
		return nil
	}
	return &r.Measurements[i]
}

// Ratio returns the speed of the faster of our kernels over that of the faster twin; false
// where there is none.
func (r *Result) Ratio() (float64, bool) {
	return ratio(r.fastest(Ours, Tuned), r.fastest(Literal, Best))
}

// LiteralRatio returns the speed of our plain kernel over that of the twin that follows it line by line.
func (r *Result) LiteralRatio() (float64, bool) { return ratio(r.by(Ours), r.by(Literal)) }

func ratio(ours, theirs *Measurement) (float64, bool) {
	if ours == nil || theirs == nil {
		return 0, false
	}
	return theirs.Seconds / ours.Seconds, true
}

// fastest returns the fastest measurement of theirs, or nil.
func (r *Result) fastest(by ...string) (best *Measurement) {
	for _, who := range by {
		if m := r.by(who); m != nil && (best == nil || m.Seconds < best.Seconds) {
			best = m
		}
	}
	return best
}

// Checked returns our speed over that without checks; false where that was not measured.
func (r *Result) Checked() (float64, bool) {
	ours, bare := r.by(Ours), r.by(Unchecked)
	if ours == nil || bare == nil {
		return 0, false
	}
	return bare.Seconds / ours.Seconds, true
}

// Summary is about the cases that have a ratio.
type Summary struct {
	Cases     int     // that have one
	Mean      float64 // geometric, of the ratios
	Worst     float64
	WorstCase string
}

// Summarize returns the summary of the cases for which the function returns true.
func (r *Report) Summarize(include func(Result) bool) Summary {
	return r.summarize(func(c Result) (float64, bool) {
		ratio, ok := c.Ratio()
		return ratio, ok && include(c)
	})
}

// SummarizeChecks returns the summary of what checks cost, of the cases that tell.
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

// Failed returns the names of the cases that were to be measured and could not be.
func (r *Report) Failed() []string {
	var names []string
	for _, s := range r.Skipped {
		if s.What == "launch" || slices.ContainsFunc(Cases(), func(c Case) bool { return c.Name == s.What }) {
			names = append(names, s.What)
		}
	}
	return names
}

// Join adds what peers measured to the cases that r has too, in the same size.
func (r *Report) Join(peers *Report) {
	for _, p := range peers.Results {
		i := slices.IndexFunc(r.Results, func(c Result) bool { return c.Name == p.Name })
		switch {
		case i < 0:
			r.Results = append(r.Results, p)
		case r.Results[i].Size != p.Size:
			r.skip(p.Name+" of peers", fmt.Sprintf("their size is %d, ours %d", p.Size, r.Results[i].Size))
		default:
			r.Results[i].Measurements = append(r.Results[i].Measurements, p.Measurements...)
		}
	}
	r.Skipped = append(r.Skipped, peers.Skipped...)
}

// WriteJSON writes the report for ReadJSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// ReadJSON reads a report.
func ReadJSON(from io.Reader) (*Report, error) {
	r := &Report{}
	if err := json.NewDecoder(from).Decode(r); err != nil {
		return nil, fmt.Errorf("bench: report: %w", err)
	}
	return r, nil
}
