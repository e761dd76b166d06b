package finetune

import (
	"context"
	"errors"

	"github.com/gopherwarp/gopherwarp/cuda/nccl"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// exchange is the sums of the derivatives of a step with NCCL. A goroutine sums each bucket when all replicas have announced it, in the order of the
// buckets, on streams of its own, which wait for the backward passes.
type exchange struct {
	sums    *sums
	buckets buckets
	outs    []*outbox // of the replicas
	reduce  func(begin, end int) error
	quit    chan struct{} // closed to end the goroutine early
	done    chan error    // receives once, when the goroutine ends
}

// outbox is where a replica announces buckets.
type outbox struct {
	*filling
	stream *device.Stream // of the replica
	ready  chan *device.Event
	err    error // of the events
}

// begin prepares the sums of a step.
func (x *sums) begin(ctx context.Context, t *Trainer) error {
	if x.reduce == nil {
		return nil
	}
	e := &exchange{sums: x, quit: make(chan struct{}), done: make(chan error, 1)}
	grads := make([]*tensor.Tensor, len(t.replicas))
	for i, r := range t.replicas {
		err := tensor.Enqueue(ctx, r.stream, func(s *tensor.Scope) error {
			m, err := r.subject.Params().Memory(s)
			if err == nil {
				grads[i] = m.Grads
			}
			return err
		})
		if err != nil {
			return err
		}
		e.buckets = buckets{grads[i].Len(), x.bucket / grads[i].DType().Size()}
		e.outs = append(e.outs, &outbox{filling: newFilling(e.buckets), stream: r.stream, ready: make(chan *device.Event, e.buckets.count())})
	}
	var err error
	if e.reduce, err = x.reduce(grads); err == nil {
		x.step = e
		go e.run()
	}
	return err
}

// outbox returns where a replica announces buckets, or nil if it need not.
func (x *sums) outbox(r *replica) *outbox {
	if x.step == nil {
		return nil
	}
	return x.step.outs[r.local]
}

// abandon ends the sums of a step that failed. Later work of the replicas waits for sums that have begun.
func (x *sums) abandon() error {
	e := x.stop()
	if e == nil {
		return nil
	}
	return errors.Join(<-e.done, e.join())
}

// stop ends the sums of a step without waiting. It returns nil if there are none.
func (x *sums) stop() *exchange {
	e := x.step
	if x.step = nil; e != nil {
		close(e.quit)
	}
	return e
}

// complete announces buckets that are complete with a range.
func (o *outbox) complete(begin, end int) {
	for range o.filling.complete(begin, end) {
		o.announce()
	}
}

// announce announces the next bucket.
func (o *outbox) announce() {
	if o.err != nil {
		return
	}
	e, err := o.stream.Record()
	if o.err = err; err == nil {
		o.ready <- e
	}
}

// run sums buckets as they are announced.
func (e *exchange) run() {
	e.done <- func() error {
		for i := range e.buckets.count() {
			for k, o := range e.outs {
				select {
				case <-e.quit:
					return nil
				case event := <-o.ready:
					if err := errors.Join(e.sums.streams[k].WaitFor(event), event.Close()); err != nil {
						return err
					}
				}
			}
			if err := e.reduce(e.buckets.bounds(i)); err != nil {
				return err
			}
		}
		return nil
	}()
}

// reducer returns a function that enqueues sums by NCCL.
func (x *sums) reducer(grads []*tensor.Tensor) (func(begin, end int) error, error) {
	if grads[0].DType() == dtype.BFloat16 {
		return reducer[dtype.BF16](x.comms, grads)
	}
	return reducer[float32](x.comms, grads)
}

func reducer[T float32 | dtype.BF16](comms []*nccl.Comm, grads []*tensor.Tensor) (func(begin, end int) error, error) {
	parts, err := tensor.SlicesOf[T](grads...)
	return func(begin, end int) error {
		return nccl.Group(func() (err error) {
			for i, c := range comms {
				part := parts[i].Slice(begin, end)
				err = errors.Join(err, nccl.AllReduce(c, nccl.Sum, part, part))
			}
			return err
		}, comms...)
	}, err
}

// end announces the buckets that no backward pass has completed, and makes the later work of the replicas wait for all sums.
func (e *exchange) end(t *Trainer) error {
	var errs []error
	for _, o := range e.outs {
		for range e.buckets.count() - o.next {
			o.announce()
		}
		errs = append(errs, o.err)
	}
	if err := errors.Join(errs...); err != nil {
		close(e.quit)
		return errors.Join(err, <-e.done)
	}
	return errors.Join(<-e.done, e.join())
}

// join makes the later work of the replicas wait for the sums.
func (e *exchange) join() error {
	var streams []*device.Stream
	for _, o := range e.outs {
		streams = append(streams, o.stream)
	}
	return after(streams, e.sums.streams)
}
