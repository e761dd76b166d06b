package finetune

import (
	"context"
	"errors"

	"github.com/gopherwarp/gopherwarp/cuda/nccl"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// collective enqueues what a rank does for a range.
type collective[T float32 | dtype.BF16] func(c *nccl.Comm, all device.Slice[T]) error

// reducer returns a function that enqueues sums by NCCL.
func (x *sums) reducer(grads []*tensor.Tensor) (func(begin, end int) error, error) {
	if grads[0].DType() == dtype.BFloat16 {
		return grouped(x.comms, grads, reduce[dtype.BF16])
	}
	return grouped(x.comms, grads, reduce[float32])
}

// scatterer returns a function that enqueues sums by NCCL of which each rank gets its part.
func (x *sums) scatterer(grads []*tensor.Tensor) (func(begin, end int) error, error) {
	if grads[0].DType() == dtype.BFloat16 {
		return grouped(x.comms, grads, scatter[dtype.BF16])
	}
	return grouped(x.comms, grads, scatter[float32])
}

// gatherer returns a function that enqueues copies by NCCL of the part of each rank to all others.
func (x *sums) gatherer(list []*tensor.Tensor) (func(begin, end int) error, error) {
	if list[0].DType() == dtype.BFloat16 {
		return grouped(x.comms, list, gather[dtype.BF16])
	}
	return grouped(x.comms, list, gather[float32])
}

// grouped returns a function that enqueues a collective for ranges of the elements of tensors, of which each rank has one.
func grouped[T float32 | dtype.BF16](comms []*nccl.Comm, list []*tensor.Tensor, f collective[T]) (func(begin, end int) error, error) {
	all, err := tensor.SlicesOf[T](list...)
	return func(begin, end int) error {
		return nccl.Group(func() (err error) {
			for i, c := range comms {
				err = errors.Join(err, f(c, all[i].Slice(begin, end)))
			}
			return err
		}, comms...)
	}, err
}

func reduce[T float32 | dtype.BF16](c *nccl.Comm, all device.Slice[T]) error {
	return nccl.AllReduce(c, nccl.Sum, all, all)
}

func scatter[T float32 | dtype.BF16](c *nccl.Comm, all device.Slice[T]) error {
	return nccl.ReduceScatter(c, nccl.Sum, all, partOf(c, all))
}

func gather[T float32 | dtype.BF16](c *nccl.Comm, all device.Slice[T]) error {
	return nccl.AllGather(c, partOf(c, all), all)
}

// partOf returns the part of a rank.
func partOf[T float32 | dtype.BF16](c *nccl.Comm, all device.Slice[T]) device.Slice[T] {
	n := all.Len() / c.World()
	return all.Slice(c.Rank()*n, (c.Rank()+1)*n)
}

// collect returns the lists of all ranks, of the given lengths, if lead is true. The process has one rank.
func (x *sums) collect(ctx context.Context, own []float32, lengths []int, lead bool) (lists [][]float32, err error) {
	const most = 1 << 20 // elements of each rank at a time
	c, s := x.comms[0], x.streams[0]
	room, err := device.Make[float32](s, most*c.World())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, room.Close()) }()
	lists = make([][]float32, c.World())
	return lists, inChunks(lengths, most, func(at, n int) error {
		all := room.All().Slice(0, n*c.World())
		if part := own[min(at, len(own)):min(at+n, len(own))]; len(part) > 0 {
			if err := device.UploadTo(s, partOf(c, all).Slice(0, len(part)), part); err != nil {
				return err
			}
		}
		if err := gather(c, all); err != nil || !lead {
			return errors.Join(err, s.Synchronize(ctx))
		}
		host := make([]float32, all.Len())
		if err := errors.Join(device.Download(s, host, all), s.Synchronize(ctx)); err != nil {
			return err
		}
		for rank, length := range lengths {
			lists[rank] = append(lists[rank], host[rank*n:rank*n+max(min(n, length-at), 0)]...)
		}
		return nil
	})
}
