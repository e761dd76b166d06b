package finetune

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/train"
	"github.com/gopherwarp/gopherwarp/train/events"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// Trainer trains an adapter or a model. It belongs to one goroutine.
type Trainer struct {
	*replica              // the first, which evaluates and writes
	replicas   []*replica // all
	sums       sums       // of derivatives
	limit      limit      // of the time of a device
	team       *team      // of a training by several processes, or nil
	data, eval *text.Data // eval may be nil
	print      string     // of the data
	base       string     // the fingerprint of the model
	planned    Plan
	packs      []text.Pack
	at         position
	last       string // the folder of the checkpoint that was written last, or with which the training continued; or ""
	steps      int    // of the whole training
	losses     losses
	events     *events.Writer // or nil
	began      time.Time      // the first step of this process
	done       int            // tokens of this process
}

// position is where a training is.
type position struct {
	Step   int `json:"step"`   // that are done
	Epoch  int `json:"epoch"`  // of the next pack
	Pack   int `json:"pack"`   // the number of the next one in its epoch
	Tokens int `json:"tokens"` // that were read

	Best  *float64 `json:"best,omitempty"`  // the least loss of Config.Eval so far, or nil
	Worse int      `json:"worse,omitempty"` // checkpoints since then

	Scaling *train.Scaling `json:"scaling,omitempty"` // of losses, or nil
}

// taken returns the number of steps that the optimizer has taken: those that were not skipped.
func (p position) taken() int {
	if p.Scaling == nil {
		return p.Step
	}
	return p.Step - p.Scaling.Skipped
}

// New loads a model onto a device, and reads the data. If there are more devices, each has a copy of the model and computes a share of the packs of
// each step. The errors match ErrConfig, ErrEarlier, ErrMemory, ErrCheckpoint, ErrDevice, and those of the packages llm, model/llama, model/lora and
// text.
func New(dev *device.Device, c Config, more ...*device.Device) (*Trainer, error) {
	return open(append([]*device.Device{dev}, more...), c, bucketBytes)
}

// open is New with buckets of a size in bytes.
func open(devices []*device.Device, c Config, bucket int) (*Trainer, error) {
	c = c.filled(len(devices))
	if err := c.check(len(devices)); err != nil {
		return nil, err
	}
	t := &Trainer{limit: limit{grace: grace}}
	for i, dev := range devices {
		t.replicas = append(t.replicas, &replica{number: i, local: i, world: len(devices), bucket: bucket, device: dev, config: &c})
	}
	t.replica = t.replicas[0]
	if err := t.open(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if err := t.sums.open(t); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if err := t.openResults(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// open loads what a training needs.
func (t *Trainer) open() (err error) {
	c := t.config
	f, err := llm.OpenFiles(c.Model)
	if err != nil {
		return err
	}
	defer f.Weights.Close()
	if t.lead() {
		if err := t.vacant(f.Weights); err != nil {
			return err
		}
	}
	if t.base, err = fingerprintOf(f.Weights); err != nil {
		return fmt.Errorf("%s: %w", c.Model, err)
	}
	size, err := llama.ConfigFor(f.Weights, f.Config)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Model, err)
	}
	if c.Length == 0 {
		c.Length = min(defaultLength, size.Context)
	}
	if c.Length > size.Context {
		return fmt.Errorf("%w: length is %d, more than the %d tokens of the model's context", ErrConfig, c.Length, size.Context)
	}
	if err := t.read(f); err != nil {
		return err
	}
	if err := t.plan(planner{files: f, device: t.replica.device.Info(), world: t.world()}); err != nil {
		return err
	}
	for _, r := range t.replicas {
		if err := r.load(f); err != nil {
			return err
		}
		r.model.Recompute(t.planned.Recompute)
	}
	if t.lead() {
		if err := os.MkdirAll(c.Out, 0o777); err != nil {
			return err
		}
	}
	t.losses.name = filepath.Join(c.Out, "losses.csv")
	return t.begin()
}

// read reads the data.
func (t *Trainer) read(f *llm.Files) (err error) {
	o := text.Options{Tokenizer: f.Tokenizer, Template: f.Template, Length: t.config.Length, Preferences: t.config.DPO, Truncate: t.config.Truncate}
	if id, ok := f.Tokenizer.EOS(); ok {
		o.End = &id
	} else if len(f.Ends) > 0 {
		o.End = &f.Ends[0]
	}
	if t.data, err = text.Read(t.config.Data, o); err != nil {
		return err
	}
	t.print = fingerprint(t.data)
	if len(t.config.Eval) > 0 {
		t.eval, err = text.Read(t.config.Eval, o)
	}
	return err
}

// begin makes the adapter and the optimizer, or continues with those of the last checkpoint.
func (t *Trainer) begin() (err error) {
	t.steps = t.count()
	folder := ""
	if t.config.Resume {
		if folder, err = t.lastCheckpoint(); err != nil {
			return err
		}
	}
	for _, r := range t.replicas {
		if err := r.begin(folder, t.at, t.steps); err != nil {
			return err
		}
	}
	t.packs = t.data.Packs(uint64(t.at.Epoch), t.config.Seed)
	return nil
}

// openResults opens the files that steps are written to. It comes last, because it removes the lines, or all files, of an earlier training.
func (t *Trainer) openResults() (err error) {
	if !t.lead() {
		return nil
	}
	if t.config.Overwrite {
		if err := t.clearOut(); err != nil {
			return err
		}
	}
	if err := t.losses.open(t.at.Step); err != nil || t.config.TensorBoard == "" {
		return err
	}
	t.events, err = events.Create(t.config.TensorBoard, time.Now(), int64(t.at.Step))
	return err
}

// count returns the number of steps of the whole training.
func (t *Trainer) count() int {
	n := 0
	for epoch := range t.config.Epochs {
		packs := len(t.data.Packs(uint64(epoch), t.config.Seed))
		n += (packs + t.config.Batch - 1) / t.config.Batch
	}
	if t.config.Steps > 0 {
		n = min(n, t.config.Steps)
	}
	return n
}

// Config returns the configuration with all defaults.
func (t *Trainer) Config() Config { return *t.config }

// Plan returns the memory that the training takes.
func (t *Trainer) Plan() Plan { return t.planned }

// Steps returns the number of finished steps, and the number of steps of the whole training.
func (t *Trainer) Steps() (done, total int) { return t.at.Step, t.steps }

// Dropped returns the lines of Config.Data and Config.Eval that the training leaves out, because nothing in them can be learned.
func (t *Trainer) Dropped() []*text.LineError {
	if t.eval == nil {
		return t.data.Dropped
	}
	return slices.Concat(t.data.Dropped, t.eval.Dropped)
}

// Data returns the number of texts, the number of their tokens, and the number of tokens that are learned in an epoch.
func (t *Trainer) Data() (texts, tokens, learned int) {
	tokens, learned = t.data.Tokens()
	return len(t.data.Examples), tokens, learned
}

// Parameters returns the number of parameters that are trained.
func (t *Trainer) Parameters() int { return t.subject.count() }

// Close frees the memory, except that of devices that hang. It writes no files.
func (t *Trainer) Close() error {
	errs := []error{t.losses.close()}
	if !t.hang() {
		errs = append(errs, t.sums.close())
	}
	if t.events != nil {
		errs = append(errs, t.events.Close())
	}
	for _, r := range t.replicas {
		errs = append(errs, r.Close())
	}
	errs = append(errs, t.team.close())
	return errors.Join(errs...)
}
