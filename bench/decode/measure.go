package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/matvec"
)

// A recording is work as two graphs: one whose kernels overlap where they can, and one whose kernels do not.
type recording struct{ overlapping, plain *device.Graph }

// record records work.
func (m *model) record(work func(s *device.Stream) error) (r recording, err error) {
	dev := m.stream.Device()
	if r.overlapping, err = dev.Capture(work); err != nil {
		return r, err
	}
	dev.OverlapNever(true)
	defer dev.OverlapNever(false)
	if r.plain, err = dev.Capture(work); err != nil {
		return r, errors.Join(err, r.overlapping.Close())
	}
	return r, nil
}

func (r recording) Close() error { return errors.Join(r.overlapping.Close(), r.plain.Close()) }

// times are the durations of one run of the two graphs of a recording.
type times struct{ overlapping, plain time.Duration }

const rounds = 5

// measure returns medians of the graphs' times per run. They run in turn, n times each in a row.
func (m *model) measure(r recording, n int) (t times, err error) {
	var all [2][]time.Duration
	for range rounds {
		for i, g := range []*device.Graph{r.overlapping, r.plain} {
			took, err := m.launch(g, n)
			if err != nil {
				return t, err
			}
			all[i] = append(all[i], took/time.Duration(n))
		}
	}
	for i := range all {
		slices.Sort(all[i])
	}
	return times{all[0][rounds/2], all[1][rounds/2]}, nil
}

// launch returns the device's time of n runs of a graph, after one that warms up.
func (m *model) launch(g *device.Graph, n int) (time.Duration, error) {
	if err := g.Launch(m.stream); err != nil {
		return 0, err
	}
	before, err := m.stream.Record()
	if err != nil {
		return 0, err
	}
	for range n {
		err = errors.Join(err, g.Launch(m.stream))
	}
	after, recorded := m.stream.Record()
	if err := errors.Join(err, recorded, m.stream.Synchronize(context.Background())); err != nil {
		return 0, err
	}
	took, err := after.Since(before)
	return took, errors.Join(err, before.Close(), after.Close())
}

// part is a part of a step: the kernels of one kind, of all layers.
type part struct {
	name    string
	kernels int
	bytes   int // of weights
	enqueue func(s *device.Stream) error
}

// each returns a function that calls f for each of n layers.
func each(n int, f func(s *device.Stream, layer int) error) func(s *device.Stream) error {
	return func(s *device.Stream) (err error) {
		for l := range n {
			err = errors.Join(err, f(s, l))
		}
		return err
	}
}

// product is the part with a kind of matrix.
func (m *model) product(k kind) part {
	f := [kinds]func(s *device.Stream, l int) error{
		m.project, m.output, m.gateUp, m.down, func(s *device.Stream, _ int) error { return m.head(s) },
	}[k]
	return part{kindNames[k], m.count(k), m.count(k) * m.size(k), each(m.count(k), f)}
}

// rest are the parts without matrices.
func (m *model) rest() []part {
	joining := func(s *device.Stream, _ int) error { return m.join(s) }
	return []part{
		{"attend", m.layers, 0, each(m.layers, m.attend)},
		{"join", m.layers, 0, each(m.layers, joining)},
		{"attention", m.layers, 0, each(m.layers, m.attention)},
	}
}

// time measures a part.
func (m *model) time(p part, n int) (times, error) {
	r, err := m.record(p.enqueue)
	if err != nil {
		return times{}, err
	}
	t, err := m.measure(r, n)
	return t, errors.Join(err, r.Close())
}

// candidates are the forms that search tries for a kind of matrix: a warp for each pair of rows, or one to three blocks for each of
// the device's multiprocessors.
func candidates(cores int) (all []matvec.Form) {
	for _, threads := range []int{256, 384, 512} {
		for resident := range 768/threads + 1 {
			all = append(all, matvec.Form{Threads: threads, Blocks: cores * resident})
		}
	}
	return all
}

// presets are forms for all kinds that may work well together: those that were fastest on an H200, and blocks that fill a
// multiprocessor or leave room for a block of the next kernel.
func presets(cores int) [][kinds]matvec.Form {
	same := func(f matvec.Form) [kinds]matvec.Form { return [kinds]matvec.Form{f, f, f, f, f} }
	best := same(matvec.Form{Threads: 256, Blocks: 3 * cores})
	best[output].Blocks = 2 * cores
	best[gateUp].Blocks, best[head] = 0, matvec.Form{Threads: 384}
	return [][kinds]matvec.Form{best, same(matvec.Form{Threads: 512, Blocks: cores}), same(matvec.Form{Threads: 384, Blocks: cores}), same(matvec.Form{Threads: 256, Blocks: cores})}
}
