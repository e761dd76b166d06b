// Launch measures what it costs to give work to a GPU: launches of empty kernels with 0 to 16
// arguments, the replay of a graph of 100 small kernels, and calls into the driver. Its twin,
// launch.cu, does the same in CUDA C++ and prints the same lines.
//
//	go run ./bench/launch
//	nvcc -O3 -o /tmp/launch bench/launch/launch.cu -lcublas -lcufft -ldl && /tmp/launch
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

const (
	samples  = 51
	launches = 300 // in a sample; the driver's queue holds more
	steps    = 100 // kernels of the graph
	elements = 1024
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "launch:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	x, err := device.Make[float32](s, elements)
	if err != nil {
		return err
	}
	if err := measureLaunches(ctx, w, s, x.All()); err != nil {
		return err
	}
	if err := measureGraph(ctx, w, s, x.All()); err != nil {
		return err
	}
	return errors.Join(measureLibraries(ctx, w, s), measureCalls(w), s.Close(), x.Close())
}

// measureLaunches measures how long enqueuing takes.
func measureLaunches(ctx context.Context, w io.Writer, s *device.Stream, x device.Slice[float32]) error {
	g := device.Cover(1, 32)
	for _, c := range []struct {
		arguments int
		launch    func() error
	}{
		{0, func() error { return Empty0(s, g) }},
		{1, func() error { return Empty1(s, g, x) }},
		{4, func() error { return Empty4(s, g, x, x, x, x) }},
		{16, func() error { return Empty16(s, g, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x) }},
	} {
		took, err := enqueuing(ctx, s, c.launch)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "launch, %d arguments: %.2f us\n", c.arguments, took)
	}
	return nil
}

// enqueuing returns the median time of a call of f, which enqueues work, in microseconds.
func enqueuing(ctx context.Context, s *device.Stream, f func() error) (float64, error) {
	var took []time.Duration
	for range samples {
		start := time.Now()
		for range launches {
			if err := f(); err != nil {
				return 0, err
			}
		}
		took = append(took, time.Since(start))
		if err := s.Synchronize(ctx); err != nil {
			return 0, err
		}
	}
	return microseconds(took) / launches, nil
}

// measureGraph measures how long a graph takes from its launch to its end.
func measureGraph(ctx context.Context, w io.Writer, s *device.Stream, x device.Slice[float32]) error {
	g, err := s.Device().Capture(func(s *device.Stream) error {
		for range steps {
			if err := Step(s, device.Cover(elements, 256), x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var replay, enqueue []time.Duration
	for range 4 * samples {
		start := time.Now()
		err := g.Launch(s)
		enqueue = append(enqueue, time.Since(start))
		if err := errors.Join(err, s.Synchronize(ctx)); err != nil {
			return err
		}
		replay = append(replay, time.Since(start))
	}
	fmt.Fprintf(w, "graph of %d kernels: %.2f us, of which enqueuing %.2f us\n", steps, microseconds(replay), microseconds(enqueue))
	got := make([]float32, elements)
	if err := errors.Join(device.Download(s, got, x), s.Synchronize(ctx), g.Close()); err != nil {
		return err
	}
	if i := slices.IndexFunc(got, func(v float32) bool { return v != 2 }); i >= 0 {
		return fmt.Errorf("element %d is %v after many steps, want 2", i, got[i])
	}
	return nil
}

// microseconds returns the median.
func microseconds(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Nanoseconds()) / 1e3
}
