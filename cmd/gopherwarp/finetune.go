package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/train/finetune"
)

type finetuneCommand struct {
	Config   string   `arg:"" optional:"" help:"A YAML file with the values of flags: model: FILE, data: [FILE], lr: 2e-4. Flags that are given take precedence."`
	Model    string   `placeholder:"FILE" help:"A GGUF file, a folder with one, or a folder of Hugging Face, with config.json and safetensors files."`
	Data     []string `sep:"none" placeholder:"FILE" help:"Texts to learn, as JSON lines. May be repeated."`
	Eval     []string `sep:"none" placeholder:"FILE" help:"Texts of which only the loss is computed, with each checkpoint. May be repeated."`
	Out      string   `placeholder:"DIR" help:"A folder for the adapter, the losses and the checkpoints."`
	Rank     int      `placeholder:"N" help:"The rank of the adapter. Default: 16."`
	Alpha    float64  `placeholder:"X" help:"The adapter's products are scaled by alpha/rank. Default: twice the rank."`
	Modules  []string `sep:"none" placeholder:"NAME" help:"A linear layer to adapt in all blocks, such as q_proj. May be repeated. Default: all."`
	Rate     float64  `name:"lr" placeholder:"X" help:"The learning rate. Default: 2e-4."`
	Schedule string   `placeholder:"NAME" help:"How the rate changes: cosine, linear or constant. Default: cosine."`
	WarmUp   int      `name:"warmup" placeholder:"N" help:"Steps in which the rate rises from 0. Default: 0."`
	Epochs   int      `placeholder:"N" help:"How often each text is read. Default: 1."`
	Steps    int      `placeholder:"N" help:"The largest number of steps. Default: no limit."`
	Batch    int      `placeholder:"N" help:"Packs of texts of a step. Default: 1."`
	Length   int      `placeholder:"N" help:"Tokens of a pack, and the most of a text. Default: 1024."`
	Truncate bool     `help:"Cut texts that are longer than -length, which are an error otherwise."`
	Seed     uint64   `placeholder:"N" help:"Selects the order of texts and the initial adapter. Default: 0."`
	Save     int      `placeholder:"N" help:"Steps between checkpoints. Default: one at the end."`
	Resume   bool     `help:"Continue from the last checkpoint in -out, if there is one."`
	Plot     string   `placeholder:"FILE" help:"Write the curve of the losses to this file, as SVG."`
}

// Help is the text after the flags.
func (finetuneCommand) Help() string {
	return `Trains a LoRA adapter of a language model with texts of your own. Each line of a file of texts is a JSON object:
{"messages": [{"role": "user", "content": "XIV?"}, {"role": "assistant", "content": "14"}]}
or {"prompt": "XIV = ", "completion": "14"} or {"text": "XIV is 14."}
The model learns the assistant's messages, completions, and whole texts. Ctrl-C writes a checkpoint.

Example:
  gopherwarp finetune -model SmolLM2-135M-Instruct.Q4_1.gguf -data train.jsonl -out adapter -epochs 2
  gopherwarp chat -model SmolLM2-135M-Instruct.Q4_1.gguf -adapter adapter`
}

// Run is called by kong.
func (c *finetuneCommand) Run(ctx context.Context, t terminal) error {
	config, err := c.config()
	if err != nil {
		return exit{exitUsage, err}
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	console.Print(t.err, fmt.Sprintf("device: %v", dev.Info()), 2)
	trainer, err := finetune.New(dev, config)
	if err != nil {
		return errors.Join(err, dev.Close())
	}
	return errors.Join(c.train(ctx, t, trainer), trainer.Close(), dev.Close())
}

// config returns the configuration of the file and the flags.
func (c *finetuneCommand) config() (finetune.Config, error) {
	var config finetune.Config
	if c.Config != "" {
		f, err := os.Open(c.Config)
		if err != nil {
			return config, err
		}
		defer f.Close()
		d := yaml.NewDecoder(f)
		d.KnownFields(true)
		if err := d.Decode(&config); err != nil && !errors.Is(err, io.EOF) {
			return config, fmt.Errorf("%s: %w", c.Config, err)
		}
	}
	replace(&config.Model, c.Model)
	replace(&config.Out, c.Out)
	replace(&config.Schedule, c.Schedule)
	replace(&config.Rank, c.Rank)
	replace(&config.WarmUp, c.WarmUp)
	replace(&config.Epochs, c.Epochs)
	replace(&config.Steps, c.Steps)
	replace(&config.Batch, c.Batch)
	replace(&config.Length, c.Length)
	replace(&config.Save, c.Save)
	replace(&config.Alpha, c.Alpha)
	replace(&config.Rate, c.Rate)
	replace(&config.Seed, c.Seed)
	replace(&config.Truncate, c.Truncate)
	replace(&config.Resume, c.Resume)
	for _, list := range []struct{ to, from *[]string }{{&config.Data, &c.Data}, {&config.Eval, &c.Eval}, {&config.Modules, &c.Modules}} {
		if len(*list.from) > 0 {
			*list.to = *list.from
		}
	}
	return config, nil
}

// replace sets a value if the flag for it was given.
func replace[T comparable](to *T, flag T) {
	var none T
	if flag != none {
		*to = flag
	}
}

// train trains, and shows the progress.
func (c *finetuneCommand) train(ctx context.Context, t terminal, trainer *finetune.Trainer) error {
	texts, tokens, learned := trainer.Data()
	done, all := trainer.Steps()
	console.Print(t.err, fmt.Sprintf("%d texts of %d tokens, of which %d are learned; %d parameters; %d steps", texts, tokens, learned, trainer.Parameters(), all), 2)
	if done > 0 {
		console.Print(t.err, fmt.Sprintf("continuing after step %d", done), 2)
	}
	r := reporter{terminal: t, progress: console.StartProgress(t.err)}
	err := trainer.Run(ctx, r.report)
	r.progress.Stop()
	out := trainer.Config().Out
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		done, _ := trainer.Steps()
		return exit{exitFailed, fmt.Errorf("stopped after step %d; -resume continues", done)}
	}
	if err != nil {
		return err
	}
	console.Print(t.err, "the adapter is in "+out, 2)
	if c.Plot == "" {
		return nil
	}
	return plotLosses(c.Plot, out)
}

// reporter shows the progress of a training.
type reporter struct {
	terminal
	progress *console.Progress // nil if there is no terminal
	last     time.Time
}

// quiet is the time between lines where there is no terminal.
const quiet = 10 * time.Second

// report shows a step.
func (r *reporter) report(p finetune.Progress) error {
	line := fmt.Sprintf("step %d of %d  loss %.4f  %.0f tokens/s  %v left  %d MB", p.Step, p.Steps, p.Loss, p.Speed, p.Left.Round(time.Second), p.Memory>>20)
	evaluated := !math.IsNaN(p.Eval)
	if evaluated {
		line += fmt.Sprintf("  loss of -eval %.4f", p.Eval)
	}
	r.progress.Show("%s", line)
	if evaluated || p.Step == p.Steps || r.progress == nil && time.Since(r.last) >= quiet {
		r.last = time.Now()
		if r.progress != nil { // nothing may be written before it stops
			r.progress.Stop()
			defer func() { r.progress = console.StartProgress(r.err) }()
		}
		_, err := fmt.Fprintln(r.out, line)
		return err
	}
	return nil
}
