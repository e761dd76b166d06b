package finetune

import (
	"context"
	"errors"

	"github.com/gopherwarp/gopherwarp/cuda/nccl"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// sums replaces the derivatives of all replicas by their sum: with NCCL on CUDA devices if NCCL is installed, bucket by bucket while the backward passes
// go on; and otherwise on the host, where the numbers are added in the order of the replicas.
type sums struct {
	comms   []*nccl.Comm     // of the replicas of this process, or nil
	streams []*device.Stream // of the comms
	bucket  int              // the size of a bucket in bytes
	step    *exchange        // of this step, or nil

	// reduce returns a function that enqueues the sum of a range of the derivatives on the streams. It is nil for sums on the host.
	reduce func(grads []*tensor.Tensor) (func(begin, end int) error, error)
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
	if _, _, err := nccl.Installed(); errors.Is(err, nccl.ErrNoLibrary) {
		return nil
	}
	x.bucket, x.reduce = bucketBytes, x.reducer
	for _, r := range t.replicas {
		s, err := r.device.NewStream()
		if err != nil {
			return err
		}
		x.streams = append(x.streams, s)
	}
	if t.team == nil {
		x.comms, err = nccl.All(context.Background(), x.streams...)
		return err
	}
	c, err := t.team.communicator(x.streams[0])
	if err == nil {
		x.comms = []*nccl.Comm{c}
	}
	return err
}

// close frees the communicators.
func (x *sums) close() error {
	errs := []error{x.abandon()}
	for _, c := range x.comms {
		errs = append(errs, c.Close())
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
		return e.end(t)
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
