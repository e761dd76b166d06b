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
	comms   []*nccl.Comm     // of the replicas, or nil
	streams []*device.Stream // of the comms
	bucket  int              // the size of a bucket in bytes
	step    *exchange        // of this step, or nil
}

// open joins the replicas.
func (x *sums) open(replicas []*replica) (err error) {
	if len(replicas) == 1 {
		return nil
	}
	for _, r := range replicas {
		if r.device.Info().Kind != "cuda" {
			return nil
		}
	}
	x.bucket = bucketBytes
	for _, r := range replicas {
		s, err := r.device.NewStream()
		if err != nil {
			return err
		}
		x.streams = append(x.streams, s)
	}
	x.comms, err = nccl.All(context.Background(), x.streams...)
	if errors.Is(err, nccl.ErrNoLibrary) {
		return nil
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
	if len(t.replicas) == 1 {
		return nil
	}
	if t.subject.Params().Activations() == dtype.BFloat16 {
		return addAll(ctx, t, host[dtype.BF16]{dtype.BF16.Float32, dtype.BF16From32})
	}
	same := func(v float32) float32 { return v }
	return addAll(ctx, t, host[float32]{same, same})
}

// host has the conversions of derivatives for a sum on the host.
type host[T any] struct {
	wide   func(T) float32
	narrow func(float32) T
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
			if parts[r.number], err = tensor.SliceOf[T](m.Grads); err != nil {
				return err
			}
			values[r.number] = make([]T, parts[r.number].Len())
			return device.Download(s.Stream(), values[r.number], parts[r.number])
		})
	})
	if err != nil {
		return err
	}
	sum := h.sum(values)
	return t.each(ctx, t.replicas, func(ctx context.Context, r *replica) error {
		return errors.Join(device.UploadTo(r.stream, parts[r.number], sum), r.stream.Synchronize(ctx))
	})
}

// sum returns the sums of the elements of lists with the same index, in the memory of the first list.
func (h host[T]) sum(lists [][]T) []T {
	to := lists[0]
	for i := range to {
		v := h.wide(to[i])
		for _, list := range lists[1:] {
			v += h.wide(list[i])
		}
		to[i] = h.narrow(v)
	}
	return to
}
