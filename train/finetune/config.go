package finetune

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/train"
)

// ErrConfig is the error of a Config with an invalid value.
var ErrConfig = errors.New("finetune: invalid configuration")

// Config is the configuration of a training. Zero values mean the defaults. The yaml tags are the keys of a configuration file of the command
// gopherwarp finetune. In such a file, "clip: 0" means no limit instead of the default.
type Config struct {
	Model string   `yaml:"model"` // a file or a folder, as llm.Open takes it
	Data  []string `yaml:"data"`  // files of JSON lines, see package text
	Eval  []string `yaml:"eval"`  // files like those of Data, for which only the loss is computed
	Out   string   `yaml:"out"`   // a folder for results

	// Method is "lora" (the default), which trains an adapter, or "full", which trains all parameters of the model.
	Method string `yaml:"method"`
	// DPO trains with preferences: see text.Options.Preferences. The loss of a preference is -log(sigmoid(Beta*d)), where d is how much
	// training has increased log(p(chosen)/p(rejected)). Beta is 0.1 by default.
	DPO  bool    `yaml:"dpo"`
	Beta float64 `yaml:"beta"`

	Rank           int      `yaml:"rank"`    // the rank of the adapter; 16 by default
	Alpha          float64  `yaml:"alpha"`   // 2*Rank by default
	RankStabilized bool     `yaml:"rslora"`  // see lora.Options
	Dropout        float64  `yaml:"dropout"` // the probability with which inputs of the adapter are dropped
	DoRA           bool     `yaml:"dora"`    // see lora.Options
	Modules        []string `yaml:"modules"` // the layers with an adapter; all linear layers by default

	// Precision is the type of activations: "bf16", "fp16" (with dynamic loss scaling: see train.Scaler) or "fp32". The default is bf16 on
	// GPUs of compute capability 8.0 or later, and fp32 on other devices.
	Precision string `yaml:"precision"`

	// Recompute is what Backward computes again instead of keeping it in memory: "none", "cheap" (norms and SwiGLU), "mlp" (these and the
	// MLPs of all layers) or "layers" (all layers). The default is the least with which the training fits in the memory of the device: see
	// Plan.
	Recompute string `yaml:"recompute"`

	// Optimizer is "adamw" (the default) or "adamw_8bit", which has moments of 8 bits: see train.AdamWOptions.
	Optimizer string `yaml:"optimizer"`

	// Zero is 1 to divide the state of the optimizer among several devices (Rajbhandari et al., "ZeRO", stage 1). By default, Zero is 0, and each
	// device has the whole state.
	Zero int `yaml:"zero"`

	Rate     float64 `yaml:"lr"`       // the learning rate; by default, 2e-5 for Method "full"; otherwise 5e-5 with DPO, and 2e-4 without it
	Schedule string  `yaml:"schedule"` // of the learning rate: "cosine" (the default) and "linear" end at 0; "constant" does not change the rate
	WarmUp   int     `yaml:"warmup"`   // the learning rate rises in the first WarmUp steps
	Decay    float64 `yaml:"decay"`    // the weight decay
	Clip     float64 `yaml:"clip"`     // the limit of the norm of all derivatives together; 1 by default; a negative number means no limit

	Epochs   int    `yaml:"epochs"`   // 1 by default
	Steps    int    `yaml:"steps"`    // the largest number of steps; no limit by default
	Batch    int    `yaml:"batch"`    // the number of packs in a step, on all devices together; by default, one for each device
	Length   int    `yaml:"length"`   // the largest number of tokens of a pack and of a text; 1024 by default, or the model's context if it is smaller
	Truncate bool   `yaml:"truncate"` // cut texts with more than Length tokens; without it, such texts are an error
	Seed     uint64 `yaml:"seed"`     // the seed of the order of texts and of the initial adapter

	// TensorBoard is a folder for event files, which the program TensorBoard shows.
	TensorBoard string `yaml:"tensorboard"`

	Save   int  `yaml:"save"`   // steps between checkpoints; 0 for a single checkpoint at the end
	Keep   int  `yaml:"keep"`   // the number of checkpoints that are kept; 2 by default
	Resume bool `yaml:"resume"` // continue from the last checkpoint in Out, if there is one

	// Overwrite removes the checkpoints, the losses and the result of an earlier training from Out when the training begins. If there are any,
	// and neither Overwrite nor Resume is set, New returns ErrEarlier.
	Overwrite bool `yaml:"overwrite"`

	// Elastic lets Resume continue a training on a different number of devices than before. The results then differ in their last bits.
	Elastic bool `yaml:"elastic"`

	// Patience ends the training after this number of consecutive checkpoints without an improvement of the loss of Eval. The result is then the
	// adapter or model with the lowest loss. With 0, the training does not end early.
	Patience int `yaml:"patience"`
}

// eightBit is the Optimizer with moments of 8 bits.
const eightBit = "adamw_8bit"

// full is the Method that trains all parameters.
const full = "full"

// defaultLength is the default of Length.
const defaultLength = 1024

// filled returns c with defaults for a number of devices.
func (c Config) filled(devices int) Config {
	for v, value := range map[*int]int{&c.Rank: 16, &c.Epochs: 1, &c.Batch: devices, &c.Keep: 2} {
		if *v == 0 {
			*v = value
		}
	}
	rate := 2e-4
	if c.Method == full {
		rate = 2e-5
	} else if c.DPO {
		rate = 5e-5
	}
	for v, value := range map[*float64]float64{&c.Alpha: float64(2 * c.Rank), &c.Rate: rate, &c.Clip: 1, &c.Beta: 0.1} {
		if *v == 0 {
			*v = value
		}
	}
	if c.Clip < 0 {
		c.Clip = math.MaxFloat32 // with which steps still measure the norm
	}
	c.Schedule, c.Method, c.Optimizer = cmp.Or(c.Schedule, "cosine"), cmp.Or(c.Method, "lora"), cmp.Or(c.Optimizer, "adamw")
	return c
}

// check returns ErrConfig with all values of a filled Config that make no sense for a number of devices.
func (c Config) check(devices int) error {
	var errs []error
	say := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
	}
	for _, v := range []struct {
		name    string
		missing bool
	}{{"model", c.Model == ""}, {"data", len(c.Data) == 0}, {"out", c.Out == ""}} {
		if v.missing {
			say("%s is needed", v.name)
		}
	}
	for _, v := range []struct {
		name  string
		value int
		least int
	}{{"rank", c.Rank, 1}, {"warmup", c.WarmUp, 0}, {"epochs", c.Epochs, 1}, {"steps", c.Steps, 0}, {"batch", c.Batch, devices}, {"length", c.Length, 0}, {"save", c.Save, 0}, {"keep", c.Keep, 1}, {"patience", c.Patience, 0}} {
		if v.value < v.least {
			say("%s is %d, less than %d", v.name, v.value, v.least)
		}
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"alpha", c.Alpha}, {"beta", c.Beta}, {"lr", c.Rate}, {"decay", c.Decay}, {"clip", c.Clip}} {
		if !(v.value >= 0) || math.IsInf(v.value, 0) {
			say("%s is %g", v.name, v.value)
		}
	}
	switch {
	case c.Method != "lora" && c.Method != full:
		say("the method %q is none of lora and full", c.Method)
	case c.Method == full && (c.DPO || c.DoRA || c.RankStabilized || c.Dropout != 0 || len(c.Modules) > 0):
		say("dpo, dora, rslora, dropout and modules need the method lora")
	}
	if !(c.Dropout >= 0 && c.Dropout < 1) {
		say("dropout is %g, not between 0 and 1", c.Dropout)
	}
	if c.Resume && c.Overwrite {
		say("resume continues the training in out, and overwrite removes it")
	}
	if c.Patience > 0 && (len(c.Eval) == 0 || c.Save == 0) {
		say("patience needs eval and save")
	}
	if c.Schedule != "cosine" && c.Schedule != "linear" && c.Schedule != "constant" {
		say("the schedule %q is none of cosine, linear and constant", c.Schedule)
	}
	if c.Optimizer != "adamw" && c.Optimizer != eightBit {
		say("the optimizer %q is none of adamw and %s", c.Optimizer, eightBit)
	}
	if c.Zero != 0 && c.Zero != 1 {
		say("zero is %d, neither 0 nor 1", c.Zero)
	}
	if !recomputes(c.Recompute) {
		say("recompute is %q, none of none, cheap, mlp and layers", c.Recompute)
	}
	if _, ok := precision(c.Precision); !ok {
		say("the precision %q is none of bf16, fp16 and fp32", c.Precision)
	}
	return errors.Join(errs...)
}

// precision returns the type of activations for a value of Precision, and reports whether there is one.
func precision(name string) (of dtype.Type, ok bool) {
	of, ok = map[string]dtype.Type{"": dtype.Invalid, "bf16": dtype.BFloat16, "fp16": dtype.Float16, "fp32": dtype.Float32}[name]
	return of, ok
}

// activations returns the type of activations.
func (c Config) activations() dtype.Type {
	of, _ := precision(c.Precision)
	return of
}

// lora returns the form of the adapter.
func (c Config) lora() lora.Options {
	return lora.Options{
		Rank: c.Rank, Alpha: c.Alpha, RankStabilized: c.RankStabilized, Dropout: c.Dropout, DoRA: c.DoRA, Modules: c.Modules, Base: c.Model, Seed: c.Seed,
		DType: c.activations(),
	}
}

// adamW returns the options of the optimizer for a number of steps.
func (c Config) adamW(steps int) train.AdamWOptions {
	rest := steps - c.WarmUp
	next := map[string]train.Schedule{"cosine": train.Cosine(rest, 0), "linear": train.Linear(rest, 0), "constant": train.Constant}[c.Schedule]
	return train.AdamWOptions{Rate: c.Rate, Schedule: train.WarmUp(c.WarmUp, next), Decay: c.Decay, Clip: c.Clip, EightBit: c.Optimizer == eightBit}
}
