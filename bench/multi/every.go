package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/cuda/nccl"
	"github.com/gopherwarp/gopherwarp/device"
)

// gathered is a GPU with input elements, which are r+1 for rank r, and a buffer for results.
type gathered struct {
	gpu
	x, y *device.Buffer[float32]
}

// every checks the collectives other than all-reduce.
func every(c *nccl.Comm, g gathered) error {
	n, k := c.World(), 1<<20
	ctx := context.Background()
	part := g.x.Slice(0, k)
	sum := float32(n * (n + 1) / 2)
	steps := []struct {
		name string
		do   func() error
		want func(at int) float32 // the element at index at*k of y
		of   int
	}{
		{"all-gather", func() error { return nccl.AllGather(c, part, g.y.Slice(0, n*k)) }, func(at int) float32 { return float32(at + 1) }, n},
		{"reduce-scatter", func() error { return nccl.ReduceScatter(c, nccl.Sum, g.x.Slice(0, n*k), g.y.Slice(0, k)) }, func(int) float32 { return sum }, 1},
		{"broadcast", func() error { return nccl.Broadcast(c, n-1, part, g.y.Slice(0, k)) }, func(int) float32 { return float32(n) }, 1},
		{"maximum", func() error { return nccl.AllReduce(c, nccl.Max, part, g.y.Slice(0, k)) }, func(int) float32 { return float32(n) }, 1},
		{"send and receive", func() error {
			next, last := (c.Rank()+1)%n, (c.Rank()+n-1)%n
			return nccl.Group(func() error { return errors.Join(nccl.Send(c, next, part), nccl.Receive(c, last, g.y.Slice(0, k))) }, c)
		}, func(int) float32 { return float32((c.Rank()+n-1)%n + 1) }, 1},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("rank %d: %s: %w", c.Rank(), s.name, err)
		}
		got := make([]float32, s.of*k)
		if err := errors.Join(device.Download(g.stream, got, g.y.Slice(0, s.of*k)), g.stream.Synchronize(ctx)); err != nil {
			return fmt.Errorf("rank %d: %s: %w", c.Rank(), s.name, err)
		}
		for i, v := range got {
			if v != s.want(i/k) {
				return fmt.Errorf("rank %d: %s: element %d is %v, want %v", c.Rank(), s.name, i, v, s.want(i/k))
			}
		}
	}
	if c.Rank() == 0 {
		fmt.Println("the results of all-gather, reduce-scatter, broadcast, maximum, send and receive are correct")
	}
	return nil
}
