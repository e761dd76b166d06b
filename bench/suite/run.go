package suite

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

// Options says what Run measures.
type Options struct {
	NVCC  string         // CUDA's compiler; without it there are no twins
	Only  *regexp.Regexp // the cases whose name or group it matches; nil for all
	Quick bool           // fewer rounds: numbers to look at, not to publish
	Seed  uint64         // of the inputs; the same seed makes the same ones
	// Commit is what this program was built from, where its build information does not say.
	Commit string
	// Unchecked has, by name, our kernels as they are without checks; nil for none.
	Unchecked map[string]*driver.Kernel
	// Peers are other frameworks that take part, on a GPU; nil for none.
	Peers *peers.Set
	// Progress, if not nil, is called before each case with its name.
	Progress func(name string)
}

// Rounds that are measured, and those of a quick run. CPUs have a few: their cases are
// there to show that they work.
const (
	fullRounds  = 25
	quickRounds = 5
	cpuRounds   = 3
)

// Run measures the cases on a device, in their big size on a GPU and in their small one
// elsewhere. What went wrong in one case is in the report; an error is returned where nothing can
// be measured, or ctx is done.
func Run(ctx context.Context, dev *device.Device, o Options) (*report.Report, error) {
	r := newReport(dev.Info(), o)
	t, err := compileTwins(ctx, o.NVCC, dev.Info())
	if err != nil {
		r.Skip("CUDA C++ twins", err.Error())
	} else {
		r.Twins = t.how
	}
	meet(r, o.Peers)
	for _, c := range Cases() {
		if !o.wantsCase(c) {
			continue
		}
		o.progress(c.Name)
		result, err := measure(ctx, dev, c, runner{o, t})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			r.Skip(c.Name, err.Error())
			continue
		}
		r.Results = append(r.Results, result)
	}
	part(r, o.Peers)
	if o.wants("launch") {
		o.progress("launch")
		if r.Launches, err = launchLadder(ctx, dev, o.Quick); err != nil {
			r.Skip("launch", err.Error())
		}
	}
	return r, ctx.Err()
}

// Measures reports whether cases of a group are to be measured.
func (o Options) Measures(group string) bool {
	return slices.ContainsFunc(Cases(), func(c Case) bool { return c.Group == group && o.wantsCase(c) })
}

func (o Options) wantsCase(c Case) bool { return o.wants(c.Name) || o.wants(c.Group) }

func (o Options) wants(name string) bool { return o.Only == nil || o.Only.MatchString(name) }

func (o Options) progress(name string) {
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

// Failed returns the names of the cases that were to be measured and could not be.
func Failed(r *report.Report) []string {
	var names []string
	for _, s := range r.Skipped {
		if s.What == "launch" || slices.ContainsFunc(Cases(), func(c Case) bool { return c.Name == s.What }) {
			names = append(names, s.What)
		}
	}
	return names
}

// runner is what all cases of a run share.
type runner struct {
	options Options
	twins   *twins // nil where there are none
}

// rounds returns how often each contender is measured.
func (r runner) rounds(i device.Info) int {
	switch {
	case i.Kind != "cuda":
		return cpuRounds
	case r.options.Quick:
		return quickRounds
	default:
		return fullRounds
	}
}

// measure prepares a case, checks all contenders and measures those that are right.
func measure(ctx context.Context, dev *device.Device, c Case, r runner) (result report.Result, err error) {
	s, err := dev.NewStreamTo(io.Discard)
	if err != nil {
		return report.Result{}, err
	}
	b := &bench{stream: s, seed: r.options.Seed}
	defer func() { err = errors.Join(err, b.close(), s.Close()) }()
	defer runtime.GC() // the host's images of a big case are gigabytes
	size := c.Small
	if dev.Info().Kind == "cuda" {
		size = c.Big
	}
	w := c.make(b, size)
	if b.err != nil {
		return report.Result{}, b.err
	}
	result = report.Result{Name: c.Name, Group: c.Group, Size: size, Bytes: w.bytes, Flops: w.flops}
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
		result.Measurements = append(result.Measurements, summary(c.name, durations[i]))
	}
	result.Measurements = append(result.Measurements, theirs...)
	return result, nil
}

// verifyAll returns the contenders whose results are right. A twin that is wrong is noted in the
// result; ours is an error.
func (b *bench) verifyAll(ctx context.Context, w work, r runner, result *report.Result) ([]contender, error) {
	var right []contender
	all := w.contenders(r.twins)
	if c, ok := w.unchecked(r.options.Unchecked); ok {
		all = append(all, c)
	}
	for _, c := range all {
		err := b.verify(ctx, w, c)
		switch {
		case err == nil:
			right = append(right, c)
		case c.name == report.Ours || c.name == report.Tuned || ctx.Err() != nil:
			return nil, err
		default:
			result.Measurements = append(result.Measurements, report.Measurement{By: c.name, Error: err.Error()})
		}
	}
	return right, nil
}

// summary returns the measurement that sorted times make.
func summary(by string, sorted []time.Duration) report.Measurement {
	return report.Measurement{
		By:      by,
		Seconds: sorted[len(sorted)/2].Seconds(),
		Fastest: sorted[0].Seconds(),
		Slowest: sorted[len(sorted)-1].Seconds(),
		Rounds:  len(sorted),
	}
}
