package finetune

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// replica is the copy of the model, the trained parameters and the optimizer that a device has. After each step, the
// parameters of all have the same bits. With Config.Zero, each has only a part of the state of the optimizer.
type replica struct {
	number  int // from 0, among those of all processes
	local   int // from 0, among those of this process
	world   int // the number of replicas of all processes
	bucket  int // the size of a bucket in bytes
	device  *device.Device
	config  *Config // of the Trainer
	stream  *device.Stream
	model   *llama.Model
	adapter *lora.Adapter // nil for the method full
	subject subject
	opt     *train.AdamW
	scaler  *train.Scaler // of losses, or nil
	hangs   bool          // the device does not end its work
	out     *outbox       // for the buckets that the pack completes, or nil

	blank     bool   // the device has no memory: see nn.Options
	forwarded func() // called between the forward pass and Backward, or nil
}

// load loads the model.
func (r *replica) load(f *llm.Files) (err error) {
	if r.stream, err = r.device.NewStream(); err != nil {
		return err
	}
	r.model, err = llama.Load(r.stream, f.Weights, llama.LoadOptions{Config: f.Config, DType: r.config.activations(), Blank: r.blank, Train: r.config.Method == full})
	if err != nil {
		return fmt.Errorf("%s: %w", r.config.Model, err)
	}
	return nil
}

// begin makes what is trained and the optimizer for a training of some steps. Both continue from a position with the files of a checkpoint, if
// folder is its name.
func (r *replica) begin(folder string, at position, steps int) error {
	if err := r.choose(folder); err != nil {
		return err
	}
	o := r.config.adamW(steps)
	if r.subject.Params().Activations() == dtype.Float16 {
		r.scaler = train.NewScaler()
	}
	o.Scaler = r.scaler
	r.opt = train.NewAdamW(r.subject.Params(), o)
	if folder == "" {
		return nil
	}
	if r.scaler != nil && at.Scaling != nil {
		r.scaler.Restore(*at.Scaling)
	}
	return r.restore(folder, at.taken())
}

// choose makes what is trained, from the folder of a checkpoint unless that is "".
func (r *replica) choose(folder string) (err error) {
	if r.config.Method == full {
		w := whole{r.model, r.stream, r.config.Model}
		r.subject = w
		if err := r.divide(w.Params()); err != nil || folder == "" {
			return err
		}
		return w.restore(folder)
	}
	if folder == "" {
		o := r.config.lora()
		o.Blank = r.blank
		r.adapter, err = lora.New(r.stream, r.model.Linears(), o)
	} else {
		r.adapter, err = lora.OpenAs(r.stream, r.model.Linears(), folder, r.config.activations())
	}
	if err != nil {
		return err
	}
	r.subject = adapted{r.adapter, r.stream}
	return errors.Join(r.divide(r.subject.Params()), r.model.Adapt(r.adapter))
}

// Close frees the memory. If the device hangs, Close does nothing, because it would wait for the device.
func (r *replica) Close() error {
	if r.hangs {
		return nil
	}
	var errs []error
	if r.opt != nil {
		errs = append(errs, r.opt.Close())
	}
	if r.subject != nil {
		errs = append(errs, r.subject.Close())
	}
	if r.model != nil {
		errs = append(errs, r.model.Close())
	}
	if r.stream != nil {
		errs = append(errs, r.stream.Close())
	}
	return errors.Join(errs...)
}

// learn adds the derivatives of the mean loss of a pack, times scale, to those of the replica. What dropout drops depends only on the seed of the
// training and number, which no other pack of the training has.
func (r *replica) learn(ctx context.Context, number int, pack text.Pack, scale float64) (x result, err error) {
	err = tensor.RunOn(ctx, r.stream, func(s *tensor.Scope) error {
		s.Seed(rand.NewPCG(r.config.Seed, uint64(number)).Uint64())
		s.Record()
		x, err = r.loss(s, pack, scale)
		return err
	})
	return x, err
}

// weight returns the number of tokens or preferences of a pack, of whose losses the loss is the mean.
func (r *replica) weight(pack text.Pack) int {
	if r.config.DPO {
		return pack.Pairs
	}
	return pack.Learned
}

// result is what a pack gave: the scaled loss, and the number of preferences whose chosen answer has gained more.
type result struct {
	loss  float64
	right int
}

// loss computes the loss of a pack times scale and, if s records, adds its derivatives.
func (r *replica) loss(s *tensor.Scope, pack text.Pack, scale float64) (x result, err error) {
	var loss *tensor.Tensor
	if r.config.DPO {
		gains, err := r.preferences(s, pack)
		if err != nil {
			return x, err
		}
		values, err := tensor.Values[float32](s.Context(), gains)
		if err != nil {
			return x, err
		}
		for _, v := range values {
			if v > 0 {
				x.right++
			}
		}
		loss = softplus(gains)
	} else {
		y, err := r.model.Read(s, packed(pack))
		if err != nil {
			return x, err
		}
		loss = r.model.Loss(y, pack.Labels)
	}
	if loss = loss.Scale(scale); s.Recording() {
		scaled := loss
		if r.scaler != nil {
			scaled = loss.Scale(r.scaler.Scale())
		}
		if r.forwarded != nil {
			r.forwarded()
		}
		if err := r.backward(s, scaled); err != nil {
			return x, err
		}
	}
	x.loss, err = scalar(s, loss)
	return x, err
}

// backward adds the derivatives of a loss, and announces complete buckets.
func (r *replica) backward(s *tensor.Scope, loss *tensor.Tensor) error {
	if r.out == nil {
		s.Backward(loss)
		return nil
	}
	return r.subject.Params().Backward(s, loss, r.out.complete)
}

// clear forgets derivatives.
func (r *replica) clear(ctx context.Context) error {
	return tensor.RunOn(context.WithoutCancel(ctx), r.stream, r.opt.Clear)
}

// update updates the parameters, and returns the norm of all derivatives before it was clipped.
func (r *replica) update(s *tensor.Scope) (norm float64, err error) {
	if err := r.opt.Step(s); err != nil {
		return 0, err
	}
	return r.opt.Norm(s)
}

// packed returns a pack for the model.
func packed(p text.Pack) llama.Packed { return llama.Packed{Tokens: p.Tokens, Lengths: p.Lengths} }

// scalar returns the value of x, for which it waits.
func scalar(s *tensor.Scope, x *tensor.Tensor) (float64, error) {
	v, err := tensor.Values[float32](s.Context(), x)
	if err != nil {
		return 0, err
	}
	return float64(v[0]), nil
}
