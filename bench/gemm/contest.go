package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
)

// contender is a way to compute products. Its run enqueues all of them on a stream, which records.
type contender struct {
	name string
	run  func(s *device.Stream) error
}

const (
	samples = 11 // of each contender
	checked = 200
)

// contest returns the median times of all contenders for a graph of their work, replayed in turn. After the first replay of each, it
// calls check.
func (b *bench) contest(all []contender, check func() error) ([]time.Duration, error) {
	times := make([][]time.Duration, len(all))
	var graphs []*device.Graph
	defer func() {
		for _, g := range graphs {
			g.Close()
		}
	}()
	for _, c := range all {
		g, err := b.stream.Device().Capture(c.run)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		graphs = append(graphs, g)
		if err := errors.Join(g.Launch(b.stream), b.stream.Synchronize(context.Background())); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		if err := check(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for range samples {
		for i, g := range graphs {
			took, err := b.time(g)
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], took)
		}
	}
	medians := make([]time.Duration, len(all))
	for i, t := range times {
		slices.Sort(t)
		medians[i] = t[len(t)/2]
	}
	return medians, nil
}

// time returns the time of a replay by the device's clock.
func (b *bench) time(g *device.Graph) (time.Duration, error) {
	before, err := b.stream.Record()
	if err != nil {
		return 0, err
	}
	defer before.Close()
	if err := g.Launch(b.stream); err != nil {
		return 0, err
	}
	after, err := b.stream.Record()
	if err != nil {
		return 0, err
	}
	defer after.Close()
	if err := b.stream.Synchronize(context.Background()); err != nil {
		return 0, err
	}
	return after.Since(before)
}

// check compares a sample of C with sums in float64, and overwrites C with NaN.
func (b *bench) check(s gemm.Shape, x operands) error {
	c := make([]dtype.BF16, s.M*s.N)
	if err := errors.Join(device.Download(b.stream, c, x.C), b.stream.Synchronize(context.Background())); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range checked {
		row, col := r.IntN(s.M), r.IntN(s.N)
		var want, size float64
		for k := range s.K {
			term := b.element(x.fromA, s.Layout == gemm.TN, [3]int{row, k, s.M}, s.K) * b.element(x.fromB, s.Layout == gemm.NT, [3]int{k, col, s.K}, s.N)
			want, size = want+term, size+math.Abs(term)
		}
		if got := c[row*s.N+col].Float64(); !(math.Abs(got-want) <= math.Abs(want)/128+size/(1<<20)) {
			return fmt.Errorf("%v %dx%dx%d: row %d, column %d is %v, want %v", s.Layout, s.M, s.N, s.K, row, col, got, want)
		}
	}
	return device.Fill(b.stream, x.C, dtype.BF16(0x7fff))
}

// element returns the element at row at[0] and column at[1] of a matrix of at[2] rows, or of its transpose in memory, which begins at an
// element of the pool.
func (b *bench) element(from int, transposed bool, at [3]int, columns int) float64 {
	i := at[0]*columns + at[1]
	if transposed {
		i = at[1]*at[2] + at[0]
	}
	return b.host[(from+i)%pool].Float64()
}

// operands are operands on the device, and where A and B begin in the pool.
type operands struct {
	gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16]
	fromA, fromB int
}
