package harness

import (
	"context"
	"errors"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/peers"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Options selects what Run measures.
type Options struct {
	NVCC  string         // CUDA's compiler; without it there are no twins
	Only  *regexp.Regexp // the cases whose name or group it matches; nil for all
	Quick bool           // fewer rounds, for figures that are not published
	Seed  uint64         // the seed of the inputs; the same seed makes the same inputs
	// Commit is what this program was built from, if its build information does not contain it.
	Commit string
	// Unchecked has our kernels compiled without checks, from ReadUnchecked; nil for none.
	Unchecked map[string]*driver.Kernel
	// Peers are other frameworks that take part, on a GPU; nil for none.
	Peers *peers.Set
	// Progress, if not nil, is called before each case with its name.
	Progress func(name string)
}

// The number of measured rounds, on a CPU just enough to show that the cases work.
const (
	fullRounds  = 25
	quickRounds = 5
	cpuRounds   = 3
)

// Run measures the cases of a suite on a device, in their big size on a GPU and in their small one elsewhere. Run skips cases for which the device
// has too little memory. Errors in one case are in the report; Run returns an error only when ctx is done.
func Run(ctx context.Context, dev *device.Device, suite Suite, o Options) (*report.Report, error) {
	r := newReport(dev.Info(), o)
	t, err := CompileTwins(ctx, suite.Twins, o.NVCC, dev.Info())
	if err != nil {
		r.Skip("CUDA C++ twins", err.Error())
	} else {
		r.Twins = t.how
	}
	meet(r, o.Peers)
	for _, c := range suite.Cases {
		if !o.wantsCase(c) {
			continue
		}
		o.Started(c.Name)
		result, err := measure(ctx, dev, c, runner{o, t})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, device.ErrMemory) {
			r.Skip(c.Name, err.Error())
			continue
		}
		if err != nil {
			r.Fail(c.Name, err)
			continue
		}
		r.Results = append(r.Results, result)
	}
	part(r, o.Peers)
	return r, ctx.Err()
}

// Measures reports whether any of the cases in a group is to be measured.
func (o Options) Measures(cases []Case, group string) bool {
	return slices.ContainsFunc(cases, func(c Case) bool { return c.Group == group && o.wantsCase(c) })
}

func (o Options) wantsCase(c Case) bool { return o.Wants(c.Name) || o.Wants(c.Group) }

// Wants reports whether Only selects a name.
func (o Options) Wants(name string) bool { return o.Only == nil || o.Only.MatchString(name) }

// Started reports the start of a measurement to Progress.
func (o Options) Started(name string) {
	if o.Progress != nil {
		o.Progress(name)
	}
}

// newReport returns an empty report on a device.
func newReport(i device.Info, o Options) *report.Report {
	r := &report.Report{Device: i.String(), Driver: i.Driver, Date: time.Now().UTC().Truncate(time.Second), Commit: o.Commit, Seed: o.Seed, Quick: o.Quick}
	if build, ok := debug.ReadBuildInfo(); ok && o.Commit == "" {
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

// runner is what all cases of a run share.
type runner struct {
	options Options
	twins   *Twins // nil if there are none
}

// rounds returns the number of times that each contender is measured.
func (r runner) rounds(i device.Info) int {
	switch {
	case !i.GPU:
		return cpuRounds
	case r.options.Quick:
		return quickRounds
	default:
		return fullRounds
	}
}

// measure prepares a case, verifies all contenders and measures those whose results are right.
func measure(ctx context.Context, dev *device.Device, c Case, r runner) (result report.Result, err error) {
	s, err := dev.NewStreamTo(io.Discard)
	if err != nil {
		return report.Result{}, err
	}
	b := NewBench(s, r.options.Seed)
	defer func() { err = errors.Join(err, b.Close(), s.Close()) }()
	defer runtime.GC() // the host's images of a big case are gigabytes
	size := c.Small
	if dev.Info().GPU {
		size = c.Big
	}
	w := c.Make(b, size)
	if b.err != nil {
		return report.Result{}, b.err
	}
	result = report.Result{Name: c.Name, Group: c.Group, Size: size, Bytes: w.Bytes, Flops: w.Flops}
	right, err := b.verifyAll(ctx, w, r, &result)
	if err != nil {
		return report.Result{}, err
	}
	rs := prepareRivals(ctx, dev.Info(), r.options.Peers, result)
	durations, err := w.times(ctx, s, field{right, rs, r.rounds(dev.Info())})
	theirs := rs.end(ctx)
	if err != nil {
		return report.Result{}, err
	}
	for i, c := range right {
		m := summary(c.Name, durations[i])
		m.Registers = c.registers
		result.Measurements = append(result.Measurements, m)
	}
	result.Measurements = append(result.Measurements, theirs...)
	return result, nil
}

// verifyAll returns the contenders whose results are right. It notes a wrong twin in the result; a wrong
// kernel of ours is an error.
func (b *Bench) verifyAll(ctx context.Context, w Work, r runner, result *report.Result) ([]Contender, error) {
	var right []Contender
	all := w.Contenders(r.twins)
	if c, ok := w.unchecked(r.options.Unchecked); ok {
		all = append(all, c)
	}
	for _, c := range all {
		var err error
		c.registers, err = b.verifyWatched(ctx, w, c)
		switch {
		case err == nil:
			right = append(right, c)
		case c.Name == report.Ours || c.Name == report.Tuned || ctx.Err() != nil:
			return nil, err
		default:
			result.Measurements = append(result.Measurements, report.Measurement{By: c.Name, Error: err.Error()})
		}
	}
	return right, nil
}

// summary returns the measurement of sorted times.
func summary(by string, sorted []time.Duration) report.Measurement {
	return report.Measurement{
		By:      by,
		Seconds: sorted[len(sorted)/2].Seconds(),
		Fastest: sorted[0].Seconds(),
		Slowest: sorted[len(sorted)-1].Seconds(),
		Rounds:  len(sorted),
	}
}
