package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// contender is one way to do a case's work.
type contender struct {
	name string
	run  func(s *device.Stream) error // enqueues it
}

// contenders returns ours and, where there are twins, theirs. Ours come first.
func (w work) contenders(t *twins) []contender {
	all := []contender{{Ours, func(s *device.Stream) error {
		return eachLaunch(w.ours, func(l launch) error { return l.call(s) })
	}}}
	if w.tuned != nil {
		all = append(all, contender{Tuned, func(s *device.Stream) error {
			return eachLaunch(w.tuned, func(l launch) error { return l.call(s) })
		}})
	}
	if t == nil {
		return all
	}
	theirs := func(ls []launch) func(s *device.Stream) error {
		return func(s *device.Stream) error {
			return eachLaunch(ls, func(l launch) error { return t.call(s, l) })
		}
	}
	all = append(all, contender{Literal, theirs(w.ours)})
	if w.best != nil {
		all = append(all, contender{Best, theirs(w.best)})
	}
	return all
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
	errs = append(errs, c.run(s))
	for _, o := range b.outputs {
		errs = append(errs, o.fetch(s))
	}
	errs = append(errs, s.Synchronize(ctx))
	if err := firstOf(errs); err != nil {
		return err
	}
	if err := w.check(); err != nil {
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

// span of time on the device.
type interval struct{ start, end *device.Event }

// record enqueues a contender's work between two events.
func record(s *device.Stream, c contender) (interval, error) {
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

// times runs the contenders in turns, so many rounds, and returns for each the device's times
// in ascending order. All is enqueued before anything is waited for, so that the device never
// waits for the host; what comes before the measured rounds warms up.
func times(ctx context.Context, s *device.Stream, cs []contender, rounds int) ([][]time.Duration, error) {
	warm := rounds/8 + 1
	intervals := make([][]interval, len(cs))
	for round := range warm + rounds {
		for i, c := range cs {
			iv, err := record(s, c)
			if err != nil {
				return nil, errors.Join(err, s.Synchronize(ctx))
			}
			if round >= warm {
				intervals[i] = append(intervals[i], iv)
				continue
			}
			defer iv.start.Close()
			defer iv.end.Close()
		}
	}
	if err := s.Synchronize(ctx); err != nil {
		return nil, err
	}
	result := make([][]time.Duration, len(cs))
	for i, ivs := range intervals {
		for _, iv := range ivs {
			d, err := iv.took()
			if err != nil {
				return nil, err
			}
			result[i] = append(result[i], d)
		}
		slices.Sort(result[i])
	}
	return result, nil
}
