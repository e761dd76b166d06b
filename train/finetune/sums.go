package finetune

import (
	"context"
	"errors"

	"github.com/gopherwarp/gopherwarp/cuda/nccl"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// sums replaces the derivatives of all replicas by their sum. On CUDA devices, it does so bucket by bucket while the backward passes go on: by copies
// between the devices (see peers), or by NCCL. On other devices, the host adds the numbers in the order of the replicas.
type sums struct {
	streams []*device.Stream           // for sums, of the replicas of this process
	bucket  int                        // the size of a bucket in bytes
	step    *exchange                  // of this step, or nil
	comms   []*nccl.Comm               // of the replicas, or nil
	direct  interface{ close() error } // the peers, or nil

	// Each of these returns a function that enqueues work for a range of tensors, of which each replica has one, on the streams. They are nil if the
	// host does it.
	reduce  func(grads []*tensor.Tensor) (func(begin, end int) error, error) // all replicas get the sums
	scatter func(grads []*tensor.Tensor) (func(begin, end int) error, error) // each gets the sums of its part
	gather  func(list []*tensor.Tensor) (func(begin, end int) error, error)  // all get the part of each
}

// open joins the replicas.
func (x *sums) open(t *Trainer) (err error) {
	if t.world() == 1 {
		return nil
	}
	for _, r := range t.replicas {
		if r.device.Info().Kind != "cuda" {
			return nil
		}
	}
	_, _, err = nccl.Installed()
	missing := errors.Is(err, nccl.ErrNoLibrary)
	if t.team != nil && missing {
		return nil
	}
	x.bucket = t.bucket
	for _, r := range t.replicas {
		s, err := r.device.NewStream()
		if err != nil {
			return err
		}
		x.streams = append(x.streams, s)
	}
	if t.team == nil && (missing || len(t.replicas) == 2) {
		return x.copy(t.subject.Params().Activations())
	}
	return x.join(t.team)
}

// copy makes the sums copy between the devices.
func (x *sums) copy(of dtype.Type) error {
	if of == dtype.BFloat16 {
		return copies[dtype.BF16](x, x.bucket/2)
	}
	return copies[float32](x, x.bucket/4)
}

// copies makes the sums of elements of type T copy between the devices, for buckets of the given number of elements.
func copies[T float32 | dtype.BF16](x *sums, most int) error {
	p, err := newPeers[T](x.streams, most)
	if err != nil {
		return err
	}
	x.direct, x.reduce, x.scatter, x.gather = p, p.reduce, p.scatter, p.gather
	return nil
}

// join makes the sums use NCCL.
func (x *sums) join(g *team) (err error) {
	x.reduce, x.scatter, x.gather = x.reducer, x.scatterer, x.gatherer
	if g == nil {
		x.comms, err = nccl.All(context.Background(), x.streams...)
		return err
	}
	c, err := g.communicator(x.streams[0])
	if err == nil {
		x.comms = []*nccl.Comm{c}
	}
	return err
}

// close frees the communicators, memory and streams.
func (x *sums) close() error {
	errs := []error{x.abandon()}
	for _, c := range x.comms {
		errs = append(errs, c.Close())
	}
	if x.direct != nil {
		errs = append(errs, x.direct.close())
	}
	for _, s := range x.streams {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// add replaces the derivatives of the Trainer's replicas by their sum.
func (x *sums) add(ctx context.Context, t *Trainer) error {
	if x.step != nil {
		e := x.step
		x.step = nil
		return e.end()
	}
	if t.world() == 1 {
		return nil
	}
	if t.subject.Params().Activations() == dtype.BFloat16 {
		return addAll(ctx, t, brains())
	}
	return addAll(ctx, t, singles())
}

// addAll replaces the derivatives of all replicas, of the type T, by their sum.
func addAll[T float32 | dtype.BF16](ctx context.Context, t *Trainer, h host[T]) error {
	ctx = context.WithoutCancel(ctx) // a step that began to update ends
	parts := make([]device.Slice[T], len(t.replicas))
	values := make([][]T, len(t.replicas))
	err := t.each(ctx, t.replicas, func(ctx context.Context, r *replica) error {
		return tensor.RunOn(ctx, r.stream, func(s *tensor.Scope) error {
			m, err := r.subject.Params().Memory(s)
			if err != nil {
				return err
			}
			if parts[r.local], err = tensor.SliceOf[T](m.Grads); err != nil {
				return err
			}
			values[r.local] = make([]T, parts[r.local].Len())
			return device.Download(s.Stream(), values[r.local], parts[r.local])
		})
	})
	if err != nil {
		return err
	}
	sum := h.sum(values)
	if t.team != nil {
		if err := h.share(ctx, t.team, sum); err != nil {
			return err
		}
	}
	return t.each(ctx, t.replicas, func(ctx context.Context, r *replica) error {
		return errors.Join(device.UploadTo(r.stream, parts[r.local], sum), r.stream.Synchronize(ctx))
	})
}
