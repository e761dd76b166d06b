package finetune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// ErrDevice is the error of a training on several devices if one of them fails. The error is a *DeviceError.
var ErrDevice = errors.New("finetune: a device failed")

// ErrHang is the cause of a DeviceError if the device needs far more time for its share of a step than the other devices.
var ErrHang = errors.New("the device hangs")

// A DeviceError is the failure of one device in a training on several devices.
type DeviceError struct {
	Number int    // the index of the device among the devices passed to New
	Name   string // the name of the device
	Err    error
}

// Error names the device and the cause.
func (e *DeviceError) Error() string {
	return fmt.Sprintf("finetune: device %d (%s): %v", e.Number, e.Name, e.Err)
}

// Unwrap returns ErrDevice and the cause.
func (e *DeviceError) Unwrap() []error { return []error{ErrDevice, e.Err} }

// limit is the time that a device has after the first one has ended its share of a step: grace and a multiple of the longest time that a device
// has needed until then.
type limit struct {
	grace   time.Duration
	longest time.Duration
}

// grace leaves time for kernels that a device loads when they run first.
const grace = 5 * time.Second

// patience is the multiple of the longest time.
const patience = 4

// left returns the time that is left for the other devices after one has needed some time.
func (l *limit) left(needed time.Duration) time.Duration {
	l.longest = max(l.longest, needed)
	return l.grace + patience*l.longest
}

// each calls f for some replicas at the same time, with a context that ends when one of them fails. It returns the first error. A replica that
// exceeds the limit hangs: each does not wait for it.
func (t *Trainer) each(ctx context.Context, replicas []*replica, f func(ctx context.Context, r *replica) error) error {
	if len(replicas) == 0 {
		return nil
	}
	if len(t.replicas) == 1 {
		return f(ctx, t.replica)
	}
	part, cancel := context.WithCancel(ctx)
	defer cancel()
	type end struct {
		r   *replica
		err error
	}
	ended, began := make(chan end, len(replicas)), time.Now()
	for _, r := range replicas {
		go func() { ended <- end{r, f(part, r)} }()
	}
	var first error
	var late <-chan time.Time
	waiting := slices.Clone(replicas)
	for len(waiting) > 0 {
		select {
		case e := <-ended:
			waiting = slices.DeleteFunc(waiting, func(r *replica) bool { return r == e.r })
			if e.err != nil && first == nil {
				first = e.r.failed(e.err)
				cancel()
			}
			if late == nil {
				late = time.After(t.limit.left(time.Since(began)))
			}
		case <-late:
			for _, r := range waiting {
				r.hangs = true
				first = errors.Join(first, r.failed(ErrHang))
			}
			return first
		}
	}
	return first
}

// failed returns the error of a device.
func (r *replica) failed(err error) error {
	return &DeviceError{r.number, r.device.Info().Name, err}
}

// learnAll adds the derivatives of the packs of a step, of the given weight together, to those of the replicas, which take turns.
func (t *Trainer) learnAll(ctx context.Context, packs []text.Pack, weight int) ([]result, error) {
	results := make([]result, len(packs))
	begin, n := t.at.Step*t.config.Batch, t.world()
	if err := t.sums.begin(ctx, t); err != nil {
		return nil, err
	}
	err := t.each(ctx, t.busy(len(packs)), func(ctx context.Context, r *replica) (err error) {
		for i := r.number; i < len(packs); i += n {
			scale := float64(r.weight(packs[i])) / float64(weight)
			if r.out = nil; i+n >= len(packs) {
				r.out = t.sums.outbox(r)
			}
			if results[i], err = r.learn(ctx, begin+i, packs[i], scale); err != nil {
				return err
			}
		}
		return nil
	})
	return results, err
}

// busy returns the replicas of this process that learn one of some packs.
func (t *Trainer) busy(packs int) (list []*replica) {
	for _, r := range t.replicas {
		if r.number < packs {
			list = append(list, r)
		}
	}
	return list
}

// updateAll sums the derivatives of all replicas, and updates their parameters.
func (t *Trainer) updateAll(ctx context.Context, p *Progress) error {
	if err := t.sums.add(ctx, t); err != nil {
		return err
	}
	norm, err := t.apply(context.WithoutCancel(ctx)) // a step that began to update ends
	if err == nil {
		p.Norm = norm
	}
	return err
}

// apply updates the parameters of all replicas, and returns the norm of the derivatives. All replicas compute the same, or each computes its part.
func (t *Trainer) apply(ctx context.Context) (norm float64, err error) {
	if t.divided() {
		if err := t.updateParts(ctx); err != nil {
			return 0, err
		}
	}
	norms, err := onAll(ctx, t, func(s *tensor.Scope, r *replica) (float64, error) {
		if r.divided() {
			return r.opt.Norm(s)
		}
		return r.update(s)
	})
	return norms[0], err
}

// hang reports whether a device hangs.
func (t *Trainer) hang() bool {
	return slices.ContainsFunc(t.replicas, func(r *replica) bool { return r.hangs })
}

// clearAll forgets the derivatives of all replicas, unless one hangs, after which the training cannot go on.
func (t *Trainer) clearAll(ctx context.Context) error {
	if t.hang() {
		t.sums.stop()
		return nil
	}
	if err := t.sums.abandon(); err != nil {
		return err
	}
	return t.each(context.WithoutCancel(ctx), t.replicas, func(ctx context.Context, r *replica) error { return r.clear(ctx) })
}
