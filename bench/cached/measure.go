package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
)

// peak is the rate that a program reaches on an H200 when it reads memory, in bytes per second.
const peak = 4.4e12

// line measures a case and writes its line.
func (b *bench) line(w io.Writer) (err error) {
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.prepare(); err != nil {
		return err
	}
	overlapping, err := b.measure(b.attend)
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return err
	}
	dev := b.s.Device()
	dev.OverlapNever(true)
	apart, err := b.measure(b.attend)
	dev.OverlapNever(false)
	if err != nil {
		return err
	}
	stored, err := b.measure(b.store)
	if err != nil {
		return err
	}
	bytes := float64(b.batch * b.tokens * b.keyHeads * b.dim * 2 * 2)
	rate := func(t time.Duration) float64 { return bytes * float64(b.layers) / t.Seconds() }
	micro := func(t time.Duration) float64 { return t.Seconds() * 1e6 / float64(b.layers) }
	_, err = fmt.Fprintf(w, "%d\t%d\t%.2f\t%.2f\t%.0f %%\t%.2f\t%.2f\t%.2f\t\n", b.batch, b.tokens,
		micro(overlapping), rate(overlapping)/1e12, 100*rate(overlapping)/peak, micro(apart), rate(apart)/1e12, micro(stored))
	return err
}

// attend attends in all layers.
func (b *bench) attend(s *device.Stream) error {
	for _, c := range b.layer {
		x := attention.Queries[dtype.BF16]{
			Heads: b.heads, Q: b.q.All(), O: b.o.All(), Tokens: b.last.All(), Context: b.tokens, Scratch: b.scratch.All(), Settled: true,
		}
		if err := c.Attend(s, x); err != nil {
			return err
		}
	}
	return nil
}

// store rotates and stores a token of each sequence in all layers.
func (b *bench) store(s *device.Stream) error {
	n := b.batch * b.keyHeads * b.dim
	for _, c := range b.layer {
		x := attention.Turn[dtype.BF16]{
			Heads: b.heads, Q: b.q.All(), K: b.pool.Slice(0, n), V: b.pool.Slice(n, 2*n), Rotated: b.o.All(), Angles: b.angles.All(), Tokens: b.last.All(),
		}
		if err := c.StoreRotated(s, x); err != nil {
			return err
		}
	}
	return nil
}

// measure returns the median time of a graph of work.
func (b *bench) measure(work func(s *device.Stream) error) (median time.Duration, err error) {
	graph, err := b.s.Device().Capture(work)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, graph.Close()) }()
	var all []time.Duration
	for i := range b.launches + 1 {
		took, err := b.time(graph)
		if err != nil {
			return 0, err
		}
		if i > 0 { // the first launch warms up
			all = append(all, took)
		}
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// time returns the device's time of a launch of a graph.
func (b *bench) time(graph *device.Graph) (time.Duration, error) {
	before, err := b.s.Record()
	if err != nil {
		return 0, err
	}
	defer before.Close()
	if err := graph.Launch(b.s); err != nil {
		return 0, err
	}
	after, err := b.s.Record()
	if err != nil {
		return 0, err
	}
	defer after.Close()
	if err := b.s.Synchronize(context.Background()); err != nil {
		return 0, err
	}
	return after.Since(before)
}
