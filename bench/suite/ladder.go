package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// empty0 does nothing.
//
//gpu:kernel
func empty0(gpu.Thread) {}

// empty1 has one argument and does nothing.
//
//gpu:kernel
func empty1(_ gpu.Thread, _ []float32) {}

// empty2 has two arguments and does nothing.
//
//gpu:kernel
func empty2(_ gpu.Thread, _, _ []float32) {}

// empty4 has four arguments and does nothing.
//
//gpu:kernel
func empty4(_ gpu.Thread, _, _, _, _ []float32) {}

// empty8 has eight arguments and does nothing.
//
//gpu:kernel
func empty8(_ gpu.Thread, _, _, _, _, _, _, _, _ []float32) {}

// empty16 has sixteen arguments and does nothing.
//
//gpu:kernel
func empty16(_ gpu.Thread, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _ []float32) {}

// rung is a kernel that does nothing, with the given number of arguments.
type rung struct {
	arguments int
	launch    func(s *device.Stream) error
}

// rungsOf returns the ladder of kernels on slices of x.
func rungsOf(x *harness.Array[float32]) []rung {
	a, g := x.All(), device.Cover(1, 32)
	return []rung{
		{0, func(s *device.Stream) error { return Empty0(s, g) }},
		{1, func(s *device.Stream) error { return Empty1(s, g, a) }},
		{2, func(s *device.Stream) error { return Empty2(s, g, a, a) }},
		{4, func(s *device.Stream) error { return Empty4(s, g, a, a, a, a) }},
		{8, func(s *device.Stream) error { return Empty8(s, g, a, a, a, a, a, a, a, a) }},
		{16, func(s *device.Stream) error { return Empty16(s, g, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a) }},
	}
}

// cost returns the seconds that one of count launches takes, the wait at the end included: the
// median of repeats.
func (r rung) cost(ctx context.Context, s *device.Stream, count, repeats int) (float64, error) {
	var took []float64
	for range repeats + 1 { // the first one warms up
		start := time.Now()
		for range count {
			if err := r.launch(s); err != nil {
				return 0, err
			}
		}
		if err := s.Synchronize(ctx); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start).Seconds()/float64(count))
	}
	took = took[1:]
	slices.Sort(took)
	return took[len(took)/2], nil
}

// launchLadder measures what a launch costs the host, by the kernel's number of arguments.
func launchLadder(ctx context.Context, dev *device.Device, quick bool) (ls []report.Launches, err error) {
	s, err := dev.NewStreamTo(io.Discard)
	if err != nil {
		return nil, err
	}
	b := harness.NewBench(s, 0)
	defer func() { err = errors.Join(err, b.Close(), s.Close()) }()
	count, repeats := 2000, 9
	if quick || !dev.Info().GPU {
		count, repeats = 200, 5
	}
	rungs := rungsOf(harness.Scratch[float32](b, 1))
	for _, rung := range rungs {
		per, err := rung.cost(ctx, s, count, repeats)
		if err = errors.Join(b.Err(), err); err != nil {
			return nil, fmt.Errorf("%d arguments: %w", rung.arguments, err)
		}
		ls = append(ls, report.Launches{Arguments: rung.arguments, Seconds: per})
	}
	return ls, nil
}
