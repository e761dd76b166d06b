package nccl_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/nccl"
	"github.com/gopherwarp/gopherwarp/device"
)

// average runs in each process that torchrun has started.
func average(ctx context.Context, gradients []float32) error {
	where, err := nccl.Torchrun(os.Getenv)
	if err != nil {
		return err
	}
	where.Timeout = time.Minute // for each collective
	dev, err := cuda.Open(where.LocalRank)
	if err != nil {
		return err
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	joining, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c, err := nccl.Join(joining, s, where.Options)
	if err != nil {
		return err // nccl: rendezvous: ranks 2, 5 of 8 did not join within 1m0s
	}
	defer c.Close()
	x, err := device.Upload(s, gradients)
	if err != nil {
		return err
	}
	defer x.Close()
	return errors.Join(
		nccl.AllReduce(c, nccl.Average, x.All(), x.All()),
		device.Download(s, gradients, x),
		s.Synchronize(ctx)) // nccl: rank 0: rendezvous: rank 3 ended without leaving the job
}

// together adds the elements of all GPUs of one process.
func together(ctx context.Context, streams []*device.Stream, x []device.Slice[float32]) error {
	comms, err := nccl.All(ctx, streams...)
	if err != nil {
		return err
	}
	err = nccl.Group(func() (err error) {
		for i, c := range comms {
			err = errors.Join(err, nccl.AllReduce(c, nccl.Sum, x[i], x[i]))
		}
		return err
	}, comms...)
	for i, c := range comms {
		err = errors.Join(err, streams[i].Synchronize(ctx), c.Close())
	}
	return err
}

func ExampleJoin() {
	fmt.Println(average(context.Background(), make([]float32, 1000)))
}

func ExampleAll() {
	fmt.Println(together(context.Background(), nil, nil))
}
