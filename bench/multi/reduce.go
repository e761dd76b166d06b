package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gopherwarp/gopherwarp/cuda/nccl"
	"github.com/gopherwarp/gopherwarp/device"
)

// bus returns the bandwidth that nccl-tests reports for an all-reduce: that of each link.
func bus(ranks int, t time.Duration) string {
	return fmt.Sprintf("%s on the bus", rate(bytes*2*(ranks-1)/ranks, t))
}

// ones returns 1 GiB of float32 on a GPU, all with the same value.
func ones(g gpu, v float32) (*device.Buffer[float32], error) {
	b, err := device.MakeDirty[float32](g.stream, bytes/4)
	if err != nil {
		return nil, err
	}
	return b, device.Fill(g.stream, b.All(), v)
}

// wants checks elements at both ends and in the middle.
func wants(ctx context.Context, g gpu, b *device.Buffer[float32], v float32) error {
	for _, at := range []int{0, b.Len() / 2, b.Len() - 1000} {
		got := make([]float32, 1000)
		if err := errors.Join(device.Download(g.stream, got, b.Slice(at, at+1000)), g.stream.Synchronize(ctx)); err != nil {
			return err
		}
		for i, x := range got {
			if x != v {
				return fmt.Errorf("element %d is %v, want %v", at+i, x, v)
			}
		}
	}
	return nil
}

// reduceAll runs an all-reduce on the GPUs of this process.
func reduceAll(ctx context.Context) error {
	all, err := openAll()
	if err != nil {
		return err
	}
	var streams []*device.Stream
	var in, out []*device.Buffer[float32]
	for i, g := range all {
		streams = append(streams, g.stream)
		x, err := ones(g, float32(i+1))
		if err != nil {
			return err
		}
		y, err := ones(g, 0)
		if err != nil {
			return err
		}
		in, out = append(in, x), append(out, y)
	}
	comms, err := nccl.All(ctx, streams...)
	if err != nil {
		return err
	}
	version, path, err := comms[0].Version()
	if err != nil {
		return err
	}
	fmt.Printf("NCCL %s, %s\n", version, path)
	t, err := median(nil, func() error {
		err := nccl.Group(func() (err error) {
			for i, c := range comms {
				err = errors.Join(err, nccl.AllReduce(c, nccl.Sum, in[i].All(), out[i].All()))
			}
			return err
		}, comms...)
		for _, s := range streams {
			err = errors.Join(err, s.Synchronize(ctx))
		}
		return err
	})
	n := len(all)
	for i, g := range all {
		err = errors.Join(err, wants(ctx, g, out[i], float32(n*(n+1)/2)))
	}
	if err != nil {
		return err
	}
	fmt.Printf("all-reduce of 1 GiB among %d GPUs of one process: %v, %s\n", n, t, bus(n, t))
	err = exchange(ctx, comms, in, out)
	for _, c := range comms {
		err = errors.Join(err, c.Close())
	}
	return errors.Join(err, closeAll(all))
}

// exchange lets every rank send its elements to the next.
func exchange(ctx context.Context, comms []*nccl.Comm, in, out []*device.Buffer[float32]) error {
	n := len(comms)
	err := nccl.Group(func() (err error) {
		for i, c := range comms {
			err = errors.Join(err, nccl.Send(c, (i+1)%n, in[i].All()), nccl.Receive(c, (i+n-1)%n, out[i].All()))
		}
		return err
	}, comms...)
	if err != nil {
		return err
	}
	for i := range comms {
		g := gpu{stream: comms[i].Stream()}
		if err := errors.Join(g.stream.Synchronize(ctx), wants(ctx, g, out[i], float32((i+n-1)%n+1))); err != nil {
			return fmt.Errorf("rank %d: %w", i, err)
		}
	}
	fmt.Println("every rank has received the elements of the previous one")
	return nil
}
