package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
)

const (
	bytes  = 1 << 30
	rounds = 20
)

// gpu is a device and a stream.
type gpu struct {
	dev    *device.Device
	stream *device.Stream
}

// openAll opens all GPUs.
func openAll() ([]gpu, error) {
	infos, err := cuda.List()
	if err != nil {
		return nil, err
	}
	var all []gpu
	for i := range infos {
		g, err := open(i)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

func open(i int) (gpu, error) {
	dev, err := cuda.Open(i)
	if err != nil {
		return gpu{}, err
	}
	s, err := dev.NewStream()
	return gpu{dev, s}, err
}

func closeAll(all []gpu) (err error) {
	for _, g := range all {
		err = errors.Join(err, g.dev.Close())
	}
	return err
}

// median returns the median time of a call of f, which waits for its work, after a warm-up call.
// Before each call it calls ready, if ready is not nil, outside the measured time.
func median(ready, f func() error) (time.Duration, error) {
	var all []time.Duration
	for i := range rounds + 1 {
		if ready != nil {
			if err := ready(); err != nil {
				return 0, err
			}
		}
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if i > 0 {
			all = append(all, time.Since(start))
		}
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

func rate(n int, t time.Duration) string { return fmt.Sprintf("%.1f GB/s", float64(n)/t.Seconds()/1e9) }

// peer copies 1 GiB from each GPU to the next.
func peer(ctx context.Context) error {
	all, err := openAll()
	if err != nil {
		return err
	}
	if len(all) < 2 {
		return errors.New("needs two GPUs")
	}
	host := make([]uint32, 1<<20)
	for i := range host {
		host[i] = uint32(i) * 2654435761
	}
	for i, from := range all {
		to := all[(i+1)%len(all)]
		t, err := between(ctx, to, from, host)
		if err != nil {
			return err
		}
		fmt.Printf("copy of 1 GiB from GPU %d to GPU %d: %s\n", i, (i+1)%len(all), rate(bytes, t))
	}
	return closeAll(all)
}

// between measures copies, and checks the copied data.
func between(ctx context.Context, to, from gpu, host []uint32) (time.Duration, error) {
	src, err := device.Make[uint32](from.stream, bytes/4)
	if err != nil {
		return 0, err
	}
	dst, err := device.Make[uint32](to.stream, bytes/4)
	if err != nil {
		return 0, err
	}
	tail := bytes/4 - len(host)
	if err := device.UploadTo(from.stream, src.Slice(tail, bytes/4), host); err != nil {
		return 0, err
	}
	t, err := median(nil, func() error {
		return errors.Join(device.CopyFrom(to.stream, dst.All(), from.stream, src.All()), to.stream.Synchronize(ctx))
	})
	got := make([]uint32, len(host))
	err = errors.Join(err, device.Download(to.stream, got, dst.Slice(tail, bytes/4)), to.stream.Synchronize(ctx))
	if err == nil && !slices.Equal(got, host) {
		err = errors.New("the copied data is wrong")
	}
	return t, errors.Join(err, src.Close(), dst.Close())
}
