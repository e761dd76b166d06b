package finetune

import (
	"context"
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// peers sums derivatives of several devices of one process by copies between the devices. They need no multiprocessors, unlike the kernels of NCCL, which
// take these from the backward passes. Each device sums a part of each range.
type peers[T float32 | dtype.BF16] struct {
	streams []*device.Stream    // of the devices
	outs    []*device.Stream    // of the devices, for what others read and write there
	parts   []device.Slice[T]   // the derivatives of each device
	room    []*device.Buffer[T] // for a part of another device
}

// newPeers returns peers for ranges of at most the given number of elements.
func newPeers[T float32 | dtype.BF16](streams []*device.Stream, most int) (*peers[T], error) {
	p := &peers[T]{streams: streams}
	for _, s := range streams {
		out, err := s.Device().NewStream()
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.outs = append(p.outs, out)
		room, err := device.Make[T](s, most/len(streams)+1)
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.room = append(p.room, room)
	}
	return p, nil
}

// reduce returns the function that sums ranges of derivatives.
func (p *peers[T]) reduce(grads []*tensor.Tensor) (_ func(begin, end int) error, err error) {
	p.parts, err = tensor.SlicesOf[T](grads...)
	return p.sum, err
}

// close waits for the copies and frees the memory.
func (p *peers[T]) close() error {
	var errs []error
	for _, s := range p.outs {
		errs = append(errs, s.Close())
	}
	for _, b := range p.room {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

// sum enqueues the sum of a range.
func (p *peers[T]) sum(begin, end int) error {
	errs := []error{after(p.outs, p.streams)}
	n := len(p.parts)
	bounds := func(i int) (from, to int) { return begin + (end-begin)*i/n, begin + (end-begin)*(i+1)/n }
	for i := range n {
		for j := range n {
			if j != i {
				from, to := bounds(i)
				errs = append(errs, p.add(i, p.outs[j], p.parts[j].Slice(from, to), p.parts[i].Slice(from, to)))
			}
		}
	}
	for i := range n {
		for j := range n {
			if j != i {
				from, to := bounds(i)
				errs = append(errs, device.CopyFrom(p.outs[j], p.parts[j].Slice(from, to), p.streams[i], p.parts[i].Slice(from, to)))
			}
		}
	}
	return errors.Join(append(errs, after(p.streams, p.outs))...)
}

// after makes the later work of each stream wait for the present work of another.
func after(streams, others []*device.Stream) error {
	var errs []error
	for i, s := range streams {
		e, err := others[i].Record()
		if err == nil {
			err = errors.Join(s.WaitFor(e), e.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// add adds elements of another device, which the given stream copies, to those of device i.
func (p *peers[T]) add(i int, from *device.Stream, theirs, own device.Slice[T]) error {
	copied := p.room[i].All().Slice(0, own.Len())
	if err := device.CopyFrom(p.streams[i], copied, from, theirs); err != nil {
		return err
	}
	x, err := tensor.Wrap(own, own.Len())
	y, failed := tensor.Wrap(copied, own.Len())
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	return tensor.Enqueue(context.Background(), p.streams[i], func(s *tensor.Scope) error {
		sum, err := tensor.SliceOf[T](s.Use(x).Add(y))
		if err != nil {
			return err
		}
		return device.Copy(p.streams[i], own, sum)
	})
}
