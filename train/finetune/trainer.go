package finetune

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// Trainer trains an adapter. It belongs to one goroutine.
type Trainer struct {
	config     Config
	stream     *device.Stream
	model      *llama.Model
	adapter    *lora.Adapter
	opt        *train.AdamW
	data, eval *text.Data // eval may be nil
	print      string     // of the data
	packs      []text.Pack
	at         position
	steps      int // of the whole training
	losses     losses
	began      time.Time // the first step of this process
	done       int       // tokens of this process
}

// position is where a training is.
type position struct {
	Step   int `json:"step"`   // that are done
	Epoch  int `json:"epoch"`  // of the next pack
	Pack   int `json:"pack"`   // the number of the next one in its epoch
	Tokens int `json:"tokens"` // that were read
}

// New loads a model onto a device, and reads the data. With Config.Resume, it continues from the last checkpoint. The errors match
// ErrConfig, ErrCheckpoint, and those of the packages llm, model/llama, model/lora and text.
func New(dev *device.Device, c Config) (*Trainer, error) {
	c = c.filled()
	if err := c.check(); err != nil {
		return nil, err
	}
	t := &Trainer{config: c}
	if err := t.open(dev); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// open loads what a training needs.
func (t *Trainer) open(dev *device.Device) (err error) {
	c := &t.config
	f, err := llm.OpenFiles(c.Model)
	if err != nil {
		return err
	}
	defer f.Weights.Close()
	if t.stream, err = dev.NewStream(); err != nil {
		return err
	}
	if t.model, err = llama.Load(t.stream, f.Weights, llama.LoadOptions{Config: f.Config}); err != nil {
		return fmt.Errorf("%s: %w", c.Model, err)
	}
	if c.Length == 0 {
		c.Length = min(defaultLength, t.model.Context)
	}
	if c.Length > t.model.Context {
		return fmt.Errorf("%w: length is %d, more than the %d tokens of the model's context", ErrConfig, c.Length, t.model.Context)
	}
	if err := t.read(f); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Out, 0o777); err != nil {
		return err
	}
	t.losses.name = filepath.Join(c.Out, "losses.csv")
	return t.begin()
}

// read reads the data.
func (t *Trainer) read(f *llm.Files) (err error) {
	o := text.Options{Tokenizer: f.Tokenizer, Template: f.Template, Length: t.config.Length, Truncate: t.config.Truncate}
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
	if folder == "" {
		t.adapter, err = lora.New(t.stream, t.model.Linears(), t.config.lora())
	} else {
		t.adapter, err = lora.Open(t.stream, t.model.Linears(), folder)
	}
	if err != nil {
		return err
	}
	if err := t.model.Adapt(t.adapter); err != nil {
		return err
	}
	t.opt = train.NewAdamW(t.adapter.Params(), t.config.adamW(t.steps))
	if folder != "" {
		if err := t.restore(folder); err != nil {
			return err
		}
	}
	t.packs = t.data.Packs(uint64(t.at.Epoch), t.config.Seed)
	return t.losses.open(t.at.Step)
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
func (t *Trainer) Config() Config { return t.config }

// Steps returns the number of steps that are done, and that of the whole training.
func (t *Trainer) Steps() (done, all int) { return t.at.Step, t.steps }

// Data returns the number of texts, of their tokens, and of those that are learned.
func (t *Trainer) Data() (texts, tokens, learned int) {
	tokens, learned = t.data.Tokens()
	return len(t.data.Examples), tokens, learned
}

// Parameters returns the number of parameters that are trained.
func (t *Trainer) Parameters() (n int) {
	for _, l := range t.adapter.Layers() {
		n += t.config.Rank * (l.In + l.Out)
	}
	return n
}

// Close frees the memory. It writes nothing.
func (t *Trainer) Close() error {
	var errs []error
	if t.opt != nil {
		errs = append(errs, t.opt.Close())
	}
	if t.adapter != nil {
		errs = append(errs, t.adapter.Close())
	}
	if t.model != nil {
		errs = append(errs, t.model.Close())
	}
	if t.stream != nil {
		errs = append(errs, t.stream.Close())
	}
	return errors.Join(append(errs, t.losses.close())...)
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
