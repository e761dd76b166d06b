package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/llm"
)

// mapping is the flag that says how files of weights are read.
type mapping struct {
	Mmap string `enum:"on,off" default:"on" help:"How files of weights are loaded for a CPU: mapped into memory (on), which saves a copy, or read (off). For GPUs, files are always read."`
}

// on reports whether files are mapped.
func (m mapping) on() bool { return m.Mmap == "on" }

// modelSource are the flags that name a model.
type modelSource struct {
	Model   string `required:"" placeholder:"FILE" help:"A GGUF file, a folder with a GGUF file, a folder in Hugging Face's format (config.json and safetensors files), or a folder models--ORG--NAME in the cache of Hugging Face."`
	Context int    `placeholder:"N" help:"The largest number of tokens of a conversation, at most that of the model. Default: that of the model, at most 8192."`
	cacheFlag
	mapping
}

// draftFlags are the flags of speculative decoding, with llama.cpp's names.
type draftFlags struct {
	DraftMax   int    `placeholder:"N" help:"Guess up to N tokens of a text in advance, and check them all in one step. Answers that repeat parts of the prompt or of themselves are then faster. Default: 0, or 4 with -model-draft."`
	DraftModel string `name:"model-draft" placeholder:"FILE" help:"A smaller model with the same vocabulary, which guesses the tokens."`
}

// check returns the error of flags that make no sense.
func (f draftFlags) check() error {
	if f.DraftMax < 0 {
		return exit{exitUsage, errors.New("-draft-max must not be negative")}
	}
	return nil
}

// cacheFlag is the flag that chooses the element type of the cache of keys and values.
type cacheFlag struct {
	Cache string `name:"kv-cache-dtype" enum:"auto,fp8" default:"auto" help:"The element type of the cache of keys and values: auto (the type of the activations) or fp8 (8-bit floats, e4m3, with scales). fp8 is less exact, and takes about half the memory on GPUs."`
}

// dtype returns the element type.
func (f cacheFlag) dtype() dtype.Type {
	if f.Cache == "fp8" {
		return dtype.Float8E4M3
	}
	return dtype.Invalid
}

// modelFlags are the flags of commands that generate text.
type modelFlags struct {
	modelSource
	draftFlags
	Adapter     string  `placeholder:"DIR" help:"A LoRA adapter for the model: a folder that finetune or the Python package PEFT wrote."`
	MaxTokens   int     `placeholder:"N" help:"The largest number of tokens of an answer. Default: until the context is full."`
	Temperature float64 `default:"0.7" help:"The randomness of the choice of tokens: larger values give improbable tokens a better chance. 0 always chooses the most probable token."`
	TopK        int     `default:"40" help:"Choose among the K most probable tokens. 0 means all tokens."`
	TopP        float64 `default:"0.95" help:"Choose among the most probable tokens whose probabilities together reach this sum. 0 means all tokens."`
	MinP        float64 `placeholder:"X" help:"Choose among the tokens whose probability is at least this share of the highest probability. Default: all tokens."`
	Repetition  float64 `name:"repetition-penalty" default:"1" help:"Make tokens that have already occurred less probable: divide their positive scores by this number, and multiply their negative scores by it. 1 means no penalty."`
	Seed        uint64  `placeholder:"N" help:"The seed of the random numbers. The same seed gives the same text. Default: a new seed each time."`
	Schema      string  `xor:"grammar" placeholder:"FILE" help:"A file with a JSON Schema that answers must satisfy."`
	Pattern     string  `xor:"grammar" placeholder:"RE" help:"A regular expression in Go's syntax that must match the whole answer."`
	Stats       bool    `help:"Print the numbers of tokens and their rates after each answer."`
}

// The numbers of texts that servers generate at once.
const (
	parallelCPU = 8
	parallelGPU = 64
)

// parallelOn returns the number of texts that servers generate at once on a device.
func parallelOn(dev *device.Device) int {
	if dev.Info().Kind == "cpu" {
		return parallelCPU
	}
	return parallelGPU
}

// check returns the error of flags that make no sense.
func (f modelSource) check() error {
	if f.Context < 0 {
		return exit{exitUsage, errors.New("-context must not be negative")}
	}
	return nil
}

// check returns the error of flags that make no sense.
func (f modelFlags) check() error {
	switch {
	case f.MaxTokens < 0 || f.TopK < 0:
		return exit{exitUsage, errors.New("-max-tokens and -top-k must not be negative")}
	case !(f.Repetition > 0):
		return exit{exitUsage, errors.New("-repetition-penalty must be positive")}
	case !(f.Temperature >= 0) || !(f.TopP >= 0 && f.TopP <= 1) || !(f.MinP >= 0 && f.MinP <= 1):
		return exit{exitUsage, errors.New("-temperature must not be negative; -top-p and -min-p are between 0 and 1")}
	}
	return errors.Join(f.modelSource.check(), f.draftFlags.check())
}

// open opens a model that generates one text at a time. See modelSource.open.
func (f modelFlags) open(ctx context.Context, t terminal) (*device.Device, *llm.Model, error) {
	dev, m, err := f.modelSource.open(ctx, t, llm.Options{Sequences: 1, Adapter: f.Adapter, DraftTokens: f.DraftMax, DraftModel: f.DraftModel})
	if err == nil {
		warnOfContext(t, f.Model, f.Context, m)
	}
	return dev, m, err
}

// warnOfContext prints a warning if a flag asks for a longer context than the model has, which then counts.
func warnOfContext(t terminal, name string, flag int, m *llm.Model) {
	if n := m.Context(); flag > n {
		console.Print(t.err, fmt.Sprintf("warning: the context of %s is %d tokens, not the %d of -context", name, n, flag), 2)
	}
}

// open opens the model on the default device. If o.Sequences is 0, it is the number of texts that servers generate there. It shows the
// progress. If ctx is done while the model is loaded, open returns the error of ctx. The caller closes both.
func (f modelSource) open(ctx context.Context, t terminal, o llm.Options) (*device.Device, *llm.Model, error) {
	o.Map, o.Context, o.CacheDType, o.Interrupt = f.on(), f.Context, f.dtype(), ctx.Err
	return openModel(t, f.Model, func(dev *device.Device, l loading) (*llm.Model, error) {
		if o.Sequences == 0 {
			o.Sequences = parallelOn(dev)
		}
		o.Memory, o.Progress = l.memory, l.progress
		return llm.Open(dev, f.Model, o)
	})
}

// openModel opens a model on the default device, and shows the progress. The caller closes both.
func openModel[M any](t terminal, path string, open func(dev *device.Device, l loading) (M, error)) (*device.Device, M, error) {
	var none M
	dev, err := gopherwarp.Open()
	if err != nil {
		return nil, none, err
	}
	progress := console.StartProgress(t.err)
	m, err := open(dev, newLoading(progress, path))
	progress.Stop()
	if err != nil {
		return nil, none, errors.Join(err, dev.Close())
	}
	return dev, m, nil
}

// loading shows what a model will take of memory, and how far it is loaded.
type loading struct {
	memory   func(m llm.Memory)
	progress func(done, total int64)
}

func newLoading(p *console.Progress, path string) loading {
	takes := ""
	return loading{
		func(m llm.Memory) {
			takes = fmt.Sprintf("; with a cache of %d tokens, it takes %.2f GiB", m.Tokens, float64(m.Weights+m.Cache)/(1<<30))
		},
		func(done, total int64) { p.Show("loading %s: %d of %d MB%s", path, done>>20, total>>20, takes) },
	}
}

// grammar returns the grammar of answers, or nil if they are any text.
func (f modelFlags) grammar() (*grammar.Grammar, error) {
	if f.Pattern != "" {
		return grammar.Pattern(f.Pattern)
	}
	if f.Schema == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.Schema)
	if err != nil {
		return nil, err
	}
	g, err := grammar.Schema(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Schema, err)
	}
	return g, nil
}

// request returns how to generate a text.
func (f modelFlags) request() llm.Request {
	r := llm.Request{MaxTokens: f.MaxTokens, Temperature: f.Temperature, TopK: f.TopK, TopP: f.TopP, MinP: f.MinP, RepetitionPenalty: f.Repetition, Seed: f.Seed}
	if r.Seed == 0 {
		r.Seed = rand.Uint64()
	}
	return r
}

// printStats prints what a text took.
func (f modelFlags) printStats(t terminal, u llm.Usage) {
	if f.Stats {
		text := fmt.Sprintf("prompt: %d tokens (%d of them known) in %.2f s; answer: %d tokens, %.1f a second",
			u.Prompt, u.Known, u.First.Seconds(), u.Generated, u.Rate())
		if u.Drafted > 0 {
			text += fmt.Sprintf("; %d of %d guesses were right", u.Accepted, u.Drafted)
		}
		console.Print(t.err, text, 2)
	}
}
