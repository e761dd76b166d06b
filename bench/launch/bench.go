package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// bench is a list of things to measure alternately.
type bench struct {
	ctx     context.Context
	stream  *device.Stream
	samples int
	all     []*contest
	peer    uintptr // peer_sample of launch.cu, or 0
}

// contest is one thing to measure. Number identifies it in launch.cu.
type contest struct {
	name         string
	id           string // in the report
	number       int
	calls        int  // per sample
	rare         bool // slow: measured in every tenth iteration
	sample       func() (time.Duration, error)
	ours, theirs []time.Duration
}

// load opens the library compiled from launch.cu.
func (b *bench) load(name string) error {
	lib, err := dl.Open(name)
	if err != nil {
		return err
	}
	start, err := lib.Symbol("peer_start")
	if err != nil {
		return err
	}
	if b.peer, err = lib.Symbol("peer_sample"); err != nil {
		return err
	}
	if status := dl.Call(start); status != 0 {
		return fmt.Errorf("%s: peer_start returned %d", name, status)
	}
	return nil
}

// enqueuing adds a call that enqueues work. A sample makes many such calls.
func (b *bench) enqueuing(id, name string, number int, f func() error) {
	b.all = append(b.all, &contest{name: name, id: id, number: number, calls: launches, sample: func() (time.Duration, error) {
		start := time.Now()
		for range launches {
			if err := f(); err != nil {
				return 0, err
			}
		}
		took := time.Since(start)
		return took, b.stream.Synchronize(b.ctx)
	}})
}

func (b *bench) addLaunches(x device.Slice[float32]) {
	g, s := device.Cover(1, 32), b.stream
	b.enqueuing("launch-0", "launch, 0 arguments", 0, func() error { return Empty0(s, g) })
	b.enqueuing("launch-1", "launch, 1 arguments", 1, func() error { return Empty1(s, g, x) })
	b.enqueuing("launch-4", "launch, 4 arguments", 2, func() error { return Empty4(s, g, x, x, x, x) })
	b.enqueuing("launch-16", "launch, 16 arguments", 3, func() error { return Empty16(s, g, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x) })
	b.all = append(b.all, &contest{name: "launch, 10000 to their end", id: "launch-many", number: 8, calls: many, rare: true, sample: func() (time.Duration, error) {
		start := time.Now()
		for range many {
			if err := Empty1(s, g, x); err != nil {
				return 0, err
			}
		}
		err := s.Synchronize(b.ctx)
		return time.Since(start), err
	}})
}

// addGraph adds a graph: the time from its launch to its end, and as a second result, the time to
// enqueue it.
func (b *bench) addGraph(x device.Slice[float32]) (*device.Graph, error) {
	g, err := b.stream.Device().Capture(func(s *device.Stream) error {
		for range steps {
			if err := Step(s, device.Cover(elements, 256), x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var enqueuing time.Duration
	replay := func() (took time.Duration, err error) {
		for range replays {
			start := time.Now()
			if err := g.Launch(b.stream); err != nil {
				return 0, err
			}
			enqueuing = time.Since(start)
			if err := b.stream.Synchronize(b.ctx); err != nil {
				return 0, err
			}
			took = time.Since(start)
		}
		return took, nil
	}
	last := func() (time.Duration, error) { return enqueuing, nil }
	name := fmt.Sprintf("graph of %d kernels", steps)
	b.all = append(b.all, &contest{name: name, id: fmt.Sprint("graph-", steps), number: 4, calls: 1, sample: replay},
		&contest{name: name + ", enqueuing", id: fmt.Sprint("graph-", steps, "-put"), number: 5, calls: 1, sample: last})
	return g, nil
}

// run measures everything alternately and writes medians.
func (b *bench) run(w output) error {
	for round := range b.samples {
		turn := b.all
		if round%10 != 0 {
			turn = slices.DeleteFunc(slices.Clone(turn), func(c *contest) bool { return c.rare })
		}
		for _, c := range turn {
			took, err := c.sample()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.ours = append(c.ours, took)
		}
		if b.peer == 0 {
			continue
		}
		for _, c := range turn {
			c.theirs = append(c.theirs, time.Duration(dl.Call(b.peer, uintptr(c.number))))
		}
	}
	r := &report.Report{}
	for _, c := range b.all {
		ours := c.microseconds(c.ours)
		result := report.Result{Name: c.id, Group: "launch", Measurements: []report.Measurement{{By: report.Ours, Seconds: ours / 1e6}}}
		if b.peer == 0 {
			fmt.Fprintf(w.text, "%s: %.2f us\n", c.name, ours)
		} else {
			theirs := c.microseconds(c.theirs)
			fmt.Fprintf(w.text, "%s: %.2f us, C++ %.2f us, %.2f of it", c.name, ours, theirs, ours/theirs)
			fmt.Fprintf(w.text, ", the fastest %.2f\n", float64(c.ours[0])/float64(c.theirs[0]))
			result.Measurements = append(result.Measurements, report.Measurement{By: "C++", Seconds: theirs / 1e6})
		}
		r.Results = append(r.Results, result)
	}
	return r.WriteJSON(w.json)
}

// microseconds returns the median time of a call, and sorts the samples.
func (c *contest) microseconds(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Nanoseconds()) / 1e3 / float64(c.calls)
}
