package finetune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// ErrDiverged is the error of a step whose loss is not a finite number. The adapter is that of the step before.
var ErrDiverged = errors.New("finetune: the loss is not a finite number")

// Progress is what a step did.
type Progress struct {
	Step, Steps int     // that are done, and all
	Epoch       int     // of the step's first pack, from 0
	Tokens      int     // that the training has read
	Loss        float64 // the mean cross-entropy of the tokens that were learned
	Rate        float64 // the learning rate
	Norm        float64 // of all derivatives, before it was clipped
	Eval        float64 // the loss of Config.Eval, or NaN if it was not computed after this step
	Speed       float64 // tokens a second since the first step of this Trainer
	Left        time.Duration
	Memory      int64 // bytes of the device's memory in use at most so far
}

// Run takes the steps that remain, calls report after each, and writes checkpoints and the adapter. If ctx ends, Run writes a checkpoint
// and returns the cause.
func (t *Trainer) Run(ctx context.Context, report func(p Progress) error) error {
	for t.at.Step < t.steps {
		if ctx.Err() != nil {
			return errors.Join(context.Cause(ctx), t.checkpoint(context.WithoutCancel(ctx)))
		}
		p, err := t.step(ctx)
		if err != nil && ctx.Err() != nil {
			continue // the step had no effect
		}
		if err != nil {
			return err
		}
		if last := t.at.Step == t.steps; last || t.config.Save > 0 && t.at.Step%t.config.Save == 0 {
			if err := t.save(ctx, &p); err != nil {
				return err
			}
		}
		if err := errors.Join(t.losses.add(p), report(p)); err != nil {
			return err
		}
	}
	return t.adapter.Save(ctx, t.stream, t.config.Out)
}

// save writes a checkpoint and computes the loss of Config.Eval.
func (t *Trainer) save(ctx context.Context, p *Progress) error {
	if err := t.checkpoint(ctx); err != nil || t.eval == nil {
		return err
	}
	var err error
	p.Eval, err = t.Evaluate(ctx)
	return err
}

// step takes a step.
func (t *Trainer) step(ctx context.Context) (Progress, error) {
	if t.began.IsZero() {
		t.began = time.Now()
	}
	p := Progress{Steps: t.steps, Epoch: t.at.Epoch, Eval: math.NaN(), Rate: t.config.adamW(t.steps).Schedule(t.at.Step) * t.config.Rate}
	packs := t.packs[t.at.Pack:min(t.at.Pack+t.config.Batch, len(t.packs))]
	learned := 0
	for _, pack := range packs {
		learned += pack.Learned
	}
	tokens := 0
	for _, pack := range packs {
		loss, err := t.learn(ctx, pack, float64(pack.Learned)/float64(learned))
		if err != nil {
			return p, errors.Join(err, t.clear(ctx))
		}
		p.Loss += loss
		tokens += len(pack.Tokens)
	}
	if math.IsNaN(p.Loss) || math.IsInf(p.Loss, 0) {
		return p, errors.Join(fmt.Errorf("%w, but %g, in step %d", ErrDiverged, p.Loss, t.at.Step+1), t.clear(ctx))
	}
	if err := t.update(ctx, &p); err != nil {
		return p, err
	}
	t.advance(len(packs), tokens)
	p.Step, p.Tokens = t.at.Step, t.at.Tokens
	return p, t.measure(&p)
}

// learn adds the derivatives of the mean loss of a pack, times scale, to those of the adapter.
func (t *Trainer) learn(ctx context.Context, pack text.Pack, scale float64) (loss float64, err error) {
	err = tensor.RunOn(ctx, t.stream, func(s *tensor.Scope) error {
		s.Record()
		x, err := t.model.Read(s, packed(pack))
		if err != nil {
			return err
		}
		part := t.model.Loss(x, pack.Labels).Scale(scale)
		s.Backward(part)
		loss, err = scalar(s, part)
		return err
	})
	return loss, err
}

// clear forgets derivatives.
func (t *Trainer) clear(ctx context.Context) error {
	return tensor.RunOn(context.WithoutCancel(ctx), t.stream, t.opt.Clear)
}

// update updates the adapter.
func (t *Trainer) update(ctx context.Context, p *Progress) error {
	return tensor.RunOn(context.WithoutCancel(ctx), t.stream, func(s *tensor.Scope) (err error) {
		if err := t.opt.Step(s); err != nil {
			return err
		}
		p.Norm, err = t.opt.Norm(s)
		return err
	})
}

// advance goes on to the next packs.
func (t *Trainer) advance(packs, tokens int) {
	t.at.Step++
	t.at.Tokens += tokens
	t.done += tokens
	if t.at.Pack += packs; t.at.Pack == len(t.packs) {
		t.at.Epoch, t.at.Pack = t.at.Epoch+1, 0
		t.packs = t.data.Packs(uint64(t.at.Epoch), t.config.Seed)
	}
}

// measure sets speed, the time that is left, and memory.
func (t *Trainer) measure(p *Progress) error {
	passed := time.Since(t.began)
	p.Speed = float64(t.done) / passed.Seconds()
	perStep := float64(t.at.Tokens) / float64(p.Step)
	p.Left = time.Duration(float64(p.Steps-p.Step) * perStep / p.Speed * float64(time.Second))
	stats, err := t.stream.Device().MemoryStats()
	p.Memory = stats.Peak
	return err
}

// Evaluate returns the mean loss of the tokens that are learned in Config.Eval.
func (t *Trainer) Evaluate(ctx context.Context) (float64, error) {
	var sum float64
	learned := 0
	for _, pack := range t.eval.Packs(0, 0) {
		err := tensor.RunOn(ctx, t.stream, func(s *tensor.Scope) error {
			x, err := t.model.Read(s, packed(pack))
			if err != nil {
				return err
			}
			loss, err := scalar(s, t.model.Loss(x, pack.Labels))
			sum += loss * float64(pack.Learned)
			return err
		})
		if err != nil {
			return 0, err
		}
		learned += pack.Learned
	}
	return sum / float64(learned), nil
}
