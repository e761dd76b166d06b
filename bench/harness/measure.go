package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
)

// Contender is one way to do a case's work.
type Contender struct {
	Name  string                       // the name of the contender, as in report.Measurement.By
	Run   func(s *device.Stream) error // enqueues the work
	Check func() error                 // checks the result; nil means Work.Check
	// registers is the largest number of registers of a thread of its kernels, 0 if unknown.
	registers int
}

// launching returns the contender that calls launch for each launch.
func launching(name string, ls []Launch, launch func(*device.Stream, Launch) error) Contender {
	return Contender{Name: name, Run: func(s *device.Stream) error {
		for _, l := range ls {
			if err := launch(s, l); err != nil {
				return err
			}
		}
		return nil
	}}
}

// Contenders returns the contenders that run in this process: our kernels, the twins unless t is nil, and then More.
func (w Work) Contenders(t *Twins) []Contender {
	var all []Contender
	add := func(name string, ls []Launch, launch func(*device.Stream, Launch) error) {
		if ls != nil {
			all = append(all, launching(name, ls, launch))
		}
	}
	ours := func(s *device.Stream, l Launch) error { return l.call(s) }
	add(report.Ours, w.Ours, ours)
	add(report.Tuned, w.Tuned, ours)
	if t != nil {
		add(report.Literal, w.Ours, t.call)
		add(report.Best, w.Best, t.call)
	}
	return append(all, w.More...)
}

// Verify overwrites the outputs with values that kernels never store, runs a contender once, and compares the outputs
// with plain Go.
func (b *Bench) Verify(ctx context.Context, w Work, c Contender) error {
	s := b.stream
	var errs []error
	for _, o := range b.outputs {
		errs = append(errs, o.poison(s))
	}
	errs = append(errs, w.restore(s), c.Run(s))
	for _, o := range b.outputs {
		errs = append(errs, o.fetch(s))
	}
	errs = append(errs, s.Synchronize(ctx))
	if err := firstOf(errs); err != nil {
		return err
	}
	check := w.Check
	if c.Check != nil {
		check = c.Check
	}
	if err := check(); err != nil {
		return fmt.Errorf("wrong result: %w", err)
	}
	return nil
}

// firstOf returns the first error, of which later ones are consequences.
func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// restore enqueues the restoration of inputs.
func (w Work) restore(s *device.Stream) error {
	if w.Restore == nil {
		return nil
	}
	return w.Restore(s)
}

// interval of time on the device.
type interval struct{ start, end *device.Event }

// record enqueues a contender's work between two events.
func (w Work) record(s *device.Stream, c Contender) (interval, error) {
	if err := w.restore(s); err != nil {
		return interval{}, err
	}
	start, err := s.Record()
	if err != nil {
		return interval{}, err
	}
	errRun := c.Run(s)
	end, err := s.Record()
	if err := errors.Join(errRun, err); err != nil {
		return interval{}, err
	}
	return interval{start, end}, nil
}

// took returns the time between the events, which have completed, and frees them.
func (i interval) took() (time.Duration, error) {
	d, err := i.end.Since(i.start)
	return d, errors.Join(err, i.start.Close(), i.end.Close())
}

// round runs each contender once, starting with cs[first], and returns the device's times. It enqueues everything
// before it waits, after a run that is not measured, so that the device never waits for the host.
func (w Work) round(ctx context.Context, s *device.Stream, cs []Contender, first int) ([]time.Duration, error) {
	if err := errors.Join(w.restore(s), cs[first].Run(s)); err != nil {
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

// field is the contenders of a case, in this process and in others.
type field struct {
	here   []Contender
	there  rivals
	rounds int // that are measured
}

// busy is how long a GPU works before it is measured. While the host compares results, a GPU may lower its clock, as NVIDIA's does for
// Vulkan, and it takes about 0.2 s to raise it.
const busy = 400 * time.Millisecond

// times runs all in turns and returns, for each in this process, the device's times in ascending order. Each
// round starts with another contender. The rounds before the measured ones warm up, on a GPU for some time.
func (w Work) times(ctx context.Context, s *device.Stream, f field) ([][]time.Duration, error) {
	start, warm := time.Now(), f.rounds/8+1
	result := make([][]time.Duration, len(f.here))
	for round := 0; round < warm+f.rounds; round++ {
		if round == warm && s.Device().Info().GPU && time.Since(start) < busy {
			warm++
		}
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
