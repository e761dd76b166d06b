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
	return p.between(func(begin, end int) error { return errors.Join(p.addAll(begin, end), copyAll(p, p.parts, begin, end)) }), err
}

// scatter returns the function that sums the parts of ranges of derivatives, each on its device.
func (p *peers[T]) scatter(grads []*tensor.Tensor) (_ func(begin, end int) error, err error) {
	p.parts, err = tensor.SlicesOf[T](grads...)
	return p.between(p.addAll), err
}

// gather returns the function that copies the parts of ranges to all devices.
func (p *peers[T]) gather(list []*tensor.Tensor) (func(begin, end int) error, error) {
	if list[0].DType() == dtype.BFloat16 {
		return gathered[T, dtype.BF16](p, list)
	}
	return gathered[T, float32](p, list)
}

func gathered[T, U float32 | dtype.BF16](p *peers[T], list []*tensor.Tensor) (func(begin, end int) error, error) {
	all, err := tensor.SlicesOf[U](list...)
	return p.between(func(begin, end int) error { return copyAll(p, all, begin, end) }), err
}

// between returns a function that calls f after the work on the streams. Later work on them waits for it.
func (p *peers[T]) between(f func(begin, end int) error) func(begin, end int) error {
	return func(begin, end int) error {
		return errors.Join(after(p.outs, p.streams), f(begin, end), after(p.streams, p.outs))
	}
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

// bounds returns the part of device i of a range.
func (p *peers[T]) bounds(i, begin, end int) (from, to int) {
	n := len(p.streams)
	return begin + (end-begin)*i/n, begin + (end-begin)*(i+1)/n
}

// addAll enqueues the sum of each part of a range on its device.
func (p *peers[T]) addAll(begin, end int) error {
	var errs []error
	for i := range p.parts {
		from, to := p.bounds(i, begin, end)
		for j := range p.parts {
			if j != i {
				errs = append(errs, p.add(i, p.outs[j], p.parts[j].Slice(from, to), p.parts[i].Slice(from, to)))
			}
		}
	}
	return errors.Join(errs...)
}

// copyAll enqueues copies of each part of a range from its device to the others.
func copyAll[T, U float32 | dtype.BF16](p *peers[T], all []device.Slice[U], begin, end int) error {
	var errs []error
	for i := range all {
		from, to := p.bounds(i, begin, end)
		for j := range all {
			if j != i {
				errs = append(errs, device.CopyFrom(p.outs[j], all[j].Slice(from, to), p.streams[i], all[i].Slice(from, to)))
			}
		}
	}
	return errors.Join(errs...)
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
