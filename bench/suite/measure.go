package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
)

// contender is one way to do a case's work.
type contender struct {
	name  string
	run   func(s *device.Stream) error // enqueues it
	check func() error                 // of its result, where that is not the case's
}

// contenders returns ours and, where there are twins, theirs, and who else takes part in this process. Ours come first.
func (w work) contenders(t *twins) []contender {
	var all []contender
	add := func(name string, ls []launch, call func(*device.Stream, launch) error) {
		if ls == nil {
			return
		}
		all = append(all, contender{name: name, run: func(s *device.Stream) error {
			return eachLaunch(ls, func(l launch) error { return call(s, l) })
		}})
	}
	ours := func(s *device.Stream, l launch) error { return l.call(s) }
	add(report.Ours, w.ours, ours)
	add(report.Tuned, w.tuned, ours)
	if t != nil {
		add(report.Literal, w.ours, t.call)
		add(report.Best, w.best, t.call)
	}
	return append(all, w.more...)
}

func eachLaunch(ls []launch, f func(launch) error) error {
	for _, l := range ls {
		if err := f(l); err != nil {
			return err
		}
	}
	return nil
}

// verify runs a contender once, on poisoned outputs, and compares them with plain Go.
func (b *bench) verify(ctx context.Context, w work, c contender) error {
	s := b.stream
	var errs []error
	for _, o := range b.outputs {
		errs = append(errs, o.poison(s))
	}
	errs = append(errs, w.bring(s), c.run(s))
	for _, o := range b.outputs {
		errs = append(errs, o.fetch(s))
	}
	errs = append(errs, s.Synchronize(ctx))
	if err := firstOf(errs); err != nil {
		return err
	}
	check := w.check
	if c.check != nil {
		check = c.check
	}
	if err := check(); err != nil {
		return fmt.Errorf("wrong result: %w", err)
	}
	return nil
}

// firstOf returns the first error; those after it follow from it.
func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// bring enqueues what brings back the inputs.
func (w work) bring(s *device.Stream) error {
	if w.restore == nil {
		return nil
	}
	return w.restore(s)
}

// interval of time on the device.
type interval struct{ start, end *device.Event }

// record enqueues a contender's work between two events.
func (w work) record(s *device.Stream, c contender) (interval, error) {
	if err := w.bring(s); err != nil {
		return interval{}, err
	}
	start, err := s.Record()
	if err != nil {
		return interval{}, err
	}
	errRun := c.run(s)
	end, err := s.Record()
	if err := errors.Join(errRun, err); err != nil {
		return interval{}, err
	}
	return interval{start, end}, nil
}

// took returns the time between the events, which have been waited for, and frees them.
func (i interval) took() (time.Duration, error) {
	d, err := i.end.Since(i.start)
	return d, errors.Join(err, i.start.Close(), i.end.Close())
}

// round runs each contender once, the first of them first, and returns the device's times. All is enqueued before
// anything is waited for, behind a run that nobody measures, so that the device never waits for the host.
func (w work) round(ctx context.Context, s *device.Stream, cs []contender, first int) ([]time.Duration, error) {
	if err := errors.Join(w.bring(s), cs[first].run(s)); err != nil {
		return nil, errors.Join(err, s.Synchronize(ctx))
	}
	intervals := make([]interval, len(cs))
	for i := range cs {
		at := (first + i) % len(cs)
		var err error
		if intervals[at], err = w.record(s, cs[at]); err != nil {
			return nil, errors.Join(err, s.Synchronize(ctx))
		}
	}
	if err := s.Synchronize(ctx); err != nil {
		return nil, err
	}
	var result []time.Duration
	for _, iv := range intervals {
		d, err := iv.took()
		if err != nil {
			return nil, err
		}
		result = append(result, d)
	}
	return result, nil
}

// field is who takes part in a case: in this process, and in others.
type field struct {
	here   []contender
	there  rivals
	rounds int // that are measured
}

// times runs all in turns and returns, for each in this process, the device's times in ascending order. Another one is first in
// each round. What comes before the measured rounds warms up.
func (w work) times(ctx context.Context, s *device.Stream, f field) ([][]time.Duration, error) {
	warm := f.rounds/8 + 1
	result := make([][]time.Duration, len(f.here))
	for round := range warm + f.rounds {
		took, err := w.round(ctx, s, f.here, round%len(f.here))
		if err != nil {
			return nil, err
		}
		f.there.round(ctx, round >= warm)
		if round < warm {
			continue
		}
		for i, d := range took {
			result[i] = append(result[i], d)
		}
	}
	for _, all := range result {
		slices.Sort(all)
	}
	return result, nil
}
