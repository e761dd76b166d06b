package finetune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train/events"
)

// ErrDiverged is the error of a step whose loss is not a finite number. The step does not change the parameters. In float16, such a step is
// skipped, and ErrDiverged occurs only if the scale of losses cannot become smaller.
var ErrDiverged = errors.New("finetune: the loss is not a finite number")

// Progress describes a finished step.
type Progress struct {
	Step, Steps int           // the number of finished steps, and of all steps
	Epoch       int           // the epoch of the step's first pack, from 0
	Tokens      int           // the number of tokens that the training has read
	Loss        float64       // the mean cross-entropy of the tokens that were learned or, with DPO, the mean loss of preferences
	Accuracy    float64       // with DPO, the share of preferences with a positive d (see Config.DPO); otherwise NaN
	Rate        float64       // the learning rate
	Norm        float64       // the norm of all derivatives together, before clipping
	Eval        float64       // the loss of Config.Eval, or NaN if it was not computed after this step
	Speed       float64       // tokens a second since the first step of this Trainer
	Left        time.Duration // the estimated time to the end
	Memory      int64         // the peak number of bytes in use on the device
	Scale       float64       // the scale of losses in this step, with float16 activations; otherwise 0
	Skipped     int           // the number of steps so far that were skipped, because the loss or a derivative was not a finite number; see train.Scaler
}

// Run takes the remaining steps, calls report after each step, and writes checkpoints and the result. If ctx ends, Run writes a checkpoint
// and returns the cause.
func (t *Trainer) Run(ctx context.Context, report func(p Progress) error) error {
	err := t.run(ctx, report)
	if t.team != nil {
		t.team.ended = err == nil || t.team.stop
	}
	return err
}

// run is Run.
func (t *Trainer) run(ctx context.Context, report func(p Progress) error) error {
	for t.at.Step < t.steps && !t.exhausted() {
		if t.team != nil && t.team.stop {
			return errors.Join(cmp.Or(context.Cause(ctx), ErrStopped), t.checkpoint(context.WithoutCancel(ctx)))
		}
		if ctx.Err() != nil && t.team == nil {
			return errors.Join(context.Cause(ctx), t.checkpoint(context.WithoutCancel(ctx)))
		}
		p, err := t.step(ctx)
		if err != nil && ctx.Err() != nil && !t.hang() && t.team == nil {
			continue // the step had no effect
		}
		if err != nil {
			return err
		}
		if err := t.finish(ctx, &p); err != nil {
			return err
		}
		if err := report(p); err != nil {
			return err
		}
	}
	if t.at.Best != nil {
		return nil // it has been written when the loss was least
	}
	return t.save(ctx)
}

// save writes what is trained. All processes call it.
func (t *Trainer) save(ctx context.Context) error {
	return t.whole(ctx, func() error { return t.subject.save(ctx, t.config.Out) })
}

// chart adds a step to the event file.
func (t *Trainer) chart(p Progress) error {
	if t.events == nil {
		return nil
	}
	var list []events.Scalar
	for _, x := range p.columns() {
		if !math.IsNaN(x.value) {
			list = append(list, events.Scalar{Tag: "train/" + x.name, Value: float32(x.value)})
		}
	}
	return t.events.Add(time.Now(), int64(p.Step), list...)
}

// exhausted reports whether the loss of Config.Eval has not improved for as long as Config.Patience allows.
func (t *Trainer) exhausted() bool { return t.config.Patience > 0 && t.at.Worse >= t.config.Patience }

// judge writes what is trained if it has the least loss of Config.Eval so far.
func (t *Trainer) judge(ctx context.Context, loss float64) error {
	if t.config.Patience == 0 {
		return nil
	}
	t.at.Worse++
	if best := t.at.Best; math.IsNaN(loss) || best != nil && loss >= *best {
		return nil
	}
	t.at.Best, t.at.Worse = &loss, 0
	return t.save(ctx)
}

// finish evaluates and writes what is due after a step. The line of a step is written before its checkpoint, so that none is missing
// if the process ends between the two: a training that continues removes the lines after its checkpoint.
func (t *Trainer) finish(ctx context.Context, p *Progress) (err error) {
	due := t.at.Step == t.steps || t.config.Save > 0 && t.at.Step%t.config.Save == 0
	if due && t.eval != nil {
		if p.Eval, err = t.evaluate(context.WithoutCancel(ctx)); err == nil {
			err = t.judge(context.WithoutCancel(ctx), p.Eval)
		}
		if err != nil {
			return err
		}
	}
	if t.lead() {
		err = errors.Join(t.losses.add(*p), t.chart(*p))
	}
	if err != nil || !due {
		return err
	}
	return t.checkpoint(context.WithoutCancel(ctx))
}

// leastScale is the scale of losses below which it does not help to halve it.
const leastScale = 1. / 65536

// step takes a step.
func (t *Trainer) step(ctx context.Context) (Progress, error) {
	if t.began.IsZero() {
		t.began = time.Now()
	}
	p := Progress{Steps: t.steps, Epoch: t.at.Epoch, Eval: math.NaN(), Accuracy: math.NaN(), Rate: t.config.adamW(t.steps).Schedule(t.at.taken()) * t.config.Rate}
	packs := t.packs[t.at.Pack:min(t.at.Pack+t.config.Batch, len(t.packs))]
	all, tokens, right := 0, 0, 0
	for _, pack := range packs {
		all += t.weight(pack)
	}
	learning := ctx
	if t.team != nil { // which stops after the step
		learning = context.WithoutCancel(ctx)
	}
	results, err := t.learnAll(learning, packs, all)
	if t.team != nil && !t.hang() {
		err = t.team.share(ctx, results, err)
	}
	if err != nil {
		return p, errors.Join(err, t.clearAll(ctx))
	}
	for i, r := range results {
		p.Loss += r.loss
		right += r.right
		tokens += len(packs[i].Tokens)
	}
	if t.config.DPO {
		p.Accuracy = float64(right) / float64(all)
	}
	if t.scaler != nil {
		p.Scale = t.scaler.Scale()
	}
	if diverged := math.IsNaN(p.Loss) || math.IsInf(p.Loss, 0); diverged && (t.scaler == nil || p.Scale < leastScale) {
		return p, errors.Join(fmt.Errorf("%w, but %g, in step %d", ErrDiverged, p.Loss, t.at.Step+1), t.clearAll(ctx))
	}
	if err := t.updateAll(ctx, &p); err != nil {
		return p, err
	}
	if t.scaler != nil {
		now := t.scaler.State()
		t.at.Scaling, p.Skipped = &now, now.Skipped
	}
	t.advance(len(packs), tokens)
	p.Step, p.Tokens = t.at.Step, t.at.Tokens
	return p, t.measure(&p)
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

// evaluate returns what Evaluate returns in the process that leads.
func (t *Trainer) evaluate(ctx context.Context) (loss float64, err error) {
	var own news
	if t.lead() {
		loss, err = t.Evaluate(ctx)
		if own.Eval = math.Float64bits(loss); err != nil {
			own.Err = err.Error()
		}
	}
	if t.team == nil {
		return loss, err
	}
	all, failed := t.team.tell(ctx, own)
	if err := errors.Join(err, failed); err != nil {
		return 0, err
	}
	return math.Float64frombits(all[0].Eval), nil
}

// Evaluate returns the mean loss of the tokens or preferences of Config.Eval.
func (t *Trainer) Evaluate(ctx context.Context) (float64, error) {
	var sum float64
	all := 0
	for _, pack := range t.eval.Packs(0, 0) {
		err := tensor.RunOn(ctx, t.stream, func(s *tensor.Scope) error {
			r, err := t.loss(s, pack, float64(t.weight(pack)))
			sum += r.loss
			return err
		})
		if err != nil {
			return 0, err
		}
		all += t.weight(pack)
	}
	return sum / float64(all), nil
}
