package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/cmd/internal/commandline"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/cuda/nccl"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/train/finetune"
	"github.com/gopherwarp/gopherwarp/train/text"
)

type finetuneCommand struct {
	Config         string   `arg:"" optional:"" help:"A YAML file with the values of flags: model: FILE, data: [FILE], lr: 2e-4. Flags on the command line take precedence."`
	Model          string   `placeholder:"FILE" help:"A GGUF file, a folder with a GGUF file, or a folder in Hugging Face's format (config.json and safetensors files)."`
	Data           []string `sep:"none" placeholder:"FILE" help:"Texts to learn, as JSON lines. May be repeated."`
	Eval           []string `sep:"none" placeholder:"FILE" help:"Texts to evaluate: their loss is computed at each checkpoint. May be repeated."`
	Out            string   `placeholder:"DIR" help:"A folder for the adapter, the losses and the checkpoints."`
	Method         string   `placeholder:"NAME" help:"What to train: lora trains an adapter, full trains all parameters. Default: lora."`
	DPO            bool     `name:"dpo" help:"Train with preferences: lines with prompt, chosen and rejected."`
	Beta           float64  `placeholder:"X" help:"With -dpo, the factor beta of the loss. Default: 0.1."`
	Rank           int      `placeholder:"N" help:"The rank of the adapter. Default: 16."`
	Alpha          float64  `placeholder:"X" help:"The adapter is scaled by alpha/rank. Default: twice the rank."`
	RankStabilized bool     `name:"rslora" help:"Scale the adapter by alpha/sqrt(rank) instead."`
	DoRA           bool     `name:"dora" help:"Also train the norms of the rows of the adapted matrices (DoRA)."`
	Dropout        float64  `placeholder:"P" help:"The probability with which training drops an input of the adapter. Default: 0."`
	Modules        []string `sep:"none" placeholder:"NAME" help:"The name of a linear layer to adapt in all blocks, such as q_proj. May be repeated. Default: all linear layers of the blocks."`
	Recompute      string   `placeholder:"NAME" help:"What the backward pass computes again instead of keeping it in memory: none, cheap (norms and SwiGLU), mlp or layers. Default: as little as fits in the memory of the device."`
	Precision      string   `placeholder:"NAME" help:"The type of activations: bf16, fp16 (with dynamic loss scaling) or fp32. Default: bf16 on GPUs of compute capability 8.0 or later, otherwise fp32."`
	Optimizer      string   `placeholder:"NAME" help:"The optimizer: adamw, or adamw_8bit, whose state takes 2 bytes for each parameter instead of 8. Default: adamw."`
	Zero           int      `placeholder:"N" help:"1 divides the optimizer's state among the devices, as in ZeRO stage 1. 0 keeps all of it on each device. Default: 0."`
	Rate           float64  `name:"lr" placeholder:"X" help:"The learning rate. Default: 2e-4, for -method full 2e-5, for -dpo 5e-5."`
	Schedule       string   `placeholder:"NAME" help:"How the learning rate changes: cosine, linear or constant. Default: cosine."`
	WarmUp         int      `name:"warmup" placeholder:"N" help:"The number of steps in which the learning rate rises from 0, at the start. Default: 0."`
	Decay          float64  `placeholder:"X" help:"The weight decay of AdamW. Default: 0."`
	Clip           float64  `placeholder:"X" help:"The limit of the norm of all derivatives together; 0 means no limit. Default: 1."`
	Epochs         int      `placeholder:"N" help:"How often to train with each text. Default: 1."`
	Steps          int      `placeholder:"N" help:"The largest number of steps. Default: no limit."`
	Batch          int      `placeholder:"N" help:"The number of packs in a step. A pack consists of texts with at most -length tokens together. Default: one pack for each device."`
	Length         int      `placeholder:"N" help:"The largest number of tokens of a pack. Longer texts are an error: see -truncate. Default: 1024."`
	Truncate       bool     `help:"Remove the end of texts that are longer than -length."`
	Seed           uint64   `placeholder:"N" help:"The seed for the order of texts and for the initial adapter. Default: 0."`
	Save           int      `placeholder:"N" help:"The number of steps between checkpoints. Default: a single checkpoint at the end."`
	Keep           int      `placeholder:"N" help:"The number of checkpoints to keep. Default: 2."`
	Patience       int      `placeholder:"N" help:"End after N consecutive checkpoints without a lower loss of -eval, and keep the result with the lowest loss. Default: no early end."`
	Resume         bool     `help:"Continue from the last checkpoint in -out, if there is one."`
	Overwrite      bool     `help:"Remove the checkpoints, the losses and the result of an earlier training from -out. Without this flag or -resume, such files are an error."`
	Elastic        bool     `help:"Let -resume continue with another number of devices than before. Results then differ in their last bits."`
	Board          string   `name:"tensorboard" placeholder:"DIR" help:"Write event files for TensorBoard to this folder."`
	Devices        []string `sep:"," placeholder:"N" help:"The GPUs that share the packs of each step, such as 0,1, or names of devices as in GOPHERWARP_DEVICE. Default: the best device."`
	GPUs           int      `name:"gpus" placeholder:"N" help:"Use the first N GPUs, as -devices does."`
	Plot           string   `placeholder:"FILE" help:"Write the curve of the losses to this file, as SVG."`
	Given          commandline.Given
}

// Help is the text after the flags.
func (finetuneCommand) Help() string {
	return `Trains a LoRA adapter of a language model, or all parameters of the model, with texts of your own. Each line of a file of texts is
a JSON object of one of these forms:

  {"messages": [{"role": "user", "content": "XIV?"}, {"role": "assistant", "content": "14"}]}
  {"prompt": "XIV =", "completion": " 14"}
  {"text": "XIV is 14."}

The model learns the assistant's messages, the completion, or the whole text. With -dpo, it learns which of two answers is better:

  {"prompt": "XIV =", "chosen": " 14", "rejected": " 16"}

To train with several processes, start the command with torchrun --no-python or srun. Each process uses one GPU. Set
GOPHERWARP_JOB_SECRET to the same random text in all processes.

After Ctrl-C or the signal SIGTERM, the training ends with a checkpoint. -resume continues from the last checkpoint.

Example:
  gopherwarp finetune -model SmolLM2-135M-Instruct.Q4_1.gguf -data train.jsonl -out adapter -epochs 2
  gopherwarp chat -model SmolLM2-135M-Instruct.Q4_1.gguf -adapter adapter`
}

// Run runs the command.
func (c *finetuneCommand) Run(ctx context.Context, t terminal) error {
	config, err := c.config()
	if err != nil {
		return exit{exitUsage, err}
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	process, several, err := nccl.Launched(os.Getenv)
	if err != nil {
		return exit{exitUsage, err}
	}
	if several {
		c.choose(process.LocalRank)
		if process.Rank > 0 { // rank 0 shows the progress
			t = terminal{io.Discard, io.Discard}
		}
	}
	devices, err := c.open(t)
	if err != nil {
		return errors.Join(err, closeAll(devices))
	}
	var trainer *finetune.Trainer
	if several {
		trainer, err = finetune.NewRank(ctx, devices[0], config, finetune.Job{Rank: process.Rank, World: process.World, Address: process.Address, Secret: process.Secret})
	} else {
		trainer, err = finetune.New(devices[0], config, devices[1:]...)
	}
	if err != nil {
		return errors.Join(err, closeAll(devices))
	}
	if err := c.train(ctx, t, trainer); err != nil {
		if errors.Is(err, finetune.ErrHang) {
			return err // without Close, which would wait for the device
		}
		return errors.Join(err, trainer.Close(), closeAll(devices))
	}
	return errors.Join(trainer.Close(), closeAll(devices))
}

// choose chooses one of the devices for a process of several on this machine: the one with its number if there are enough. If there is only one, it is
// the process's own.
func (c *finetuneCommand) choose(number int) {
	if list := c.names(); len(list) > 0 {
		c.Devices = []string{list[number%len(list)]}
	} else if list, err := cuda.List(); err == nil && len(list) > 1 && os.Getenv(gopherwarp.Variable) == "" {
		c.Devices = []string{strconv.Itoa(number)}
	}
	c.GPUs = 0
}

// names returns the names of the devices, if flags name some.
func (c *finetuneCommand) names() []string {
	if len(c.Devices) > 0 {
		return c.Devices
	}
	var list []string
	for i := range c.GPUs {
		list = append(list, strconv.Itoa(i))
	}
	return list
}

// open opens the devices and prints their names.
func (c *finetuneCommand) open(t terminal) (list []*device.Device, err error) {
	names := c.names()
	for _, name := range names {
		if _, err := strconv.Atoi(name); err == nil {
			name = "cuda:" + name
		}
		dev, err := gopherwarp.OpenNamed(name)
		if err != nil {
			return list, fmt.Errorf("device %s: %w", name, err)
		}
		list = append(list, dev)
	}
	if len(names) == 0 {
		dev, err := gopherwarp.Open()
		if err != nil {
			return nil, err
		}
		list = append(list, dev)
	}
	for _, dev := range list {
		console.Print(t.err, fmt.Sprintf("device: %v", dev.Info()), 2)
	}
	return list, nil
}

// closeAll closes devices.
func closeAll(devices []*device.Device) (err error) {
	for _, dev := range devices {
		err = errors.Join(err, dev.Close())
	}
	return err
}

// config returns the configuration of the file and the flags.
func (c *finetuneCommand) config() (finetune.Config, error) {
	var config finetune.Config
	var written map[string]bool
	if c.Config != "" {
		var err error
		if written, err = readConfig(c.Config, &config); err != nil {
			return config, err
		}
	}
	if c.Plot != "" {
		if _, err := os.Stat(filepath.Dir(c.Plot)); err != nil {
			return config, fmt.Errorf("%s cannot be written: %w", c.Plot, err)
		}
	}
	return config, override(&config, c.Given, written)
}

// train trains, and shows the progress.
func (c *finetuneCommand) train(ctx context.Context, t terminal, trainer *finetune.Trainer) error {
	texts, tokens, learned := trainer.Data()
	done, all := trainer.Steps()
	console.Print(t.err, fmt.Sprintf("%d texts of %d tokens, of which %d are learned; %d parameters; %d steps", texts, tokens, learned, trainer.Parameters(), all), 2)
	reportDropped(t, trainer.Dropped())
	console.Print(t.err, "memory:\n"+trainer.Plan().String(), 2)
	if done > 0 {
		console.Print(t.err, fmt.Sprintf("continuing after step %d", done), 2)
	}
	r := reporter{terminal: t, progress: console.StartProgress(t.err)}
	err := trainer.Run(ctx, r.report)
	r.progress.Stop()
	out := trainer.Config().Out
	if errors.Is(err, finetune.ErrStopped) || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		done, _ := trainer.Steps()
		return exit{exitFailed, fmt.Errorf("stopped after step %d; -resume continues", done)}
	}
	if err != nil {
		return err
	}
	console.Print(t.err, "the result is in "+out, 2)
	if done, all := trainer.Steps(); done < all {
		console.Print(t.err, fmt.Sprintf("ended after step %d, because the loss of -eval did not improve", done), 2)
	}
	if c.Plot == "" || t.out == io.Discard {
		return nil
	}
	return plotLosses(c.Plot, out)
}

// mostDropped is the number of dropped lines that are listed.
const mostDropped = 10

// reportDropped lists the lines that have nothing to learn.
func reportDropped(t terminal, lines []*text.LineError) {
	if len(lines) == 0 {
		return
	}
	console.Print(t.err, fmt.Sprintf("dropped texts with nothing to learn: %d", len(lines)), 2)
	for _, l := range lines[:min(len(lines), mostDropped)] {
		console.Print(t.err, l.Error(), 4)
	}
	if n := len(lines) - mostDropped; n > 0 {
		console.Print(t.err, fmt.Sprintf("and %d more", n), 4)
	}
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
	loss := fmt.Sprintf("loss %.4f", p.Loss)
	if !math.IsNaN(p.Accuracy) {
		loss += fmt.Sprintf("  accuracy %.2f", p.Accuracy)
	}
	line := fmt.Sprintf("step %d of %d  %s  %.0f tokens/s  %v left  %d MB", p.Step, p.Steps, loss, p.Speed, p.Left.Round(time.Second), p.Memory>>20)
	if p.Skipped > 0 {
		line += fmt.Sprintf("  %d skipped, scale %g", p.Skipped, p.Scale)
	}
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
