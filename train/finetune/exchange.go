package finetune

import (
	"context"
	"errors"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// exchange is the sums of the derivatives of a step, or the copies of its new parameters. A goroutine sums or copies each bucket when all replicas have
// announced it, in the order of the buckets, on streams of its own, which wait for the work of the replicas.
type exchange struct {
	streams []*device.Stream
	ranges  ranges
	outs    []*outbox // of the replicas
	move    func(begin, end int) error
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
	list, err := t.memories(ctx)
	if err != nil {
		return err
	}
	grads := make([]*tensor.Tensor, len(list))
	for i, m := range list {
		grads[i] = m.Grads
	}
	sum, parts := x.reduce, buckets(grads[0].Len(), x.bucket/grads[0].DType().Size())
	if t.divided() {
		sum, parts = x.scatter, rangesOf(list[0])
	}
	move, err := sum(grads)
	if err == nil {
		x.step = x.start(t, parts, move)
	}
	return err
}

// start starts to move buckets.
func (x *sums) start(t *Trainer, list ranges, move func(begin, end int) error) *exchange {
	e := &exchange{streams: x.streams, ranges: list, move: move, quit: make(chan struct{}), done: make(chan error, 1)}
	for _, r := range t.replicas {
		e.outs = append(e.outs, &outbox{filling: newFilling(list), stream: r.stream, ready: make(chan *device.Event, len(list))})
	}
	go e.run()
	return e
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
	e := x.step
	if x.step = nil; e == nil {
		return nil
	}
	return e.abandon()
}

// stop ends the sums of a step without waiting.
func (x *sums) stop() {
	if x.step != nil {
		close(x.step.quit)
		x.step = nil
	}
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

// run moves buckets as they are announced.
func (e *exchange) run() {
	e.done <- func() error {
		for _, x := range e.ranges {
			for k, o := range e.outs {
				select {
				case <-e.quit:
					return nil
				case event := <-o.ready:
					if err := errors.Join(e.streams[k].WaitFor(event), event.Close()); err != nil {
						return err
					}
				}
			}
			if err := e.move(x[0], x[1]); err != nil {
				return err
			}
		}
		return nil
	}()
}

// end announces the buckets that no replica has completed, and makes the later work of the replicas wait for all buckets.
func (e *exchange) end() error {
	var errs []error
	for _, o := range e.outs {
		for len(o.ranges) > o.next {
			o.announce()
			o.next++
		}
		errs = append(errs, o.err)
	}
	if err := errors.Join(errs...); err != nil {
		return errors.Join(err, e.abandon())
	}
	return errors.Join(<-e.done, e.join())
}

// abandon ends the exchange early. Later work of the replicas waits for what has begun.
func (e *exchange) abandon() error {
	close(e.quit)
	return errors.Join(<-e.done, e.join())
}

// join makes the later work of the replicas wait for the buckets.
func (e *exchange) join() error {
	var streams []*device.Stream
	for _, o := range e.outs {
		streams = append(streams, o.stream)
	}
	return after(streams, e.streams)
}
