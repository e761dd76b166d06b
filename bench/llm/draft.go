package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/gopherwarp/gopherwarp/bench/random"
	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// passage is the text that a model with a file repeats.
const passage = "The quick brown fox jumps over the lazy dog. The river runs down from the mountains through the green valley to the sea, and the " +
	"people of the valley fish in it every morning. In the evening they sit by the fire, tell old stories, and sing the songs of their fathers. " +
	"When winter comes, the river freezes, and the children walk over the ice to the other side, where the forest begins."

// drafts measures texts without guessed tokens and with some numbers of them. A model from a file repeats a text, and answers a question, for
// which most guesses are wrong. A model with random weights has a text of one token, for which all guesses are right, and one that
// hardly repeats itself.
func drafts(ctx context.Context, dev *device.Device, w *tabwriter.Writer, p plan) error {
	fmt.Fprintf(w, "guessed tokens of a step\ttokens/s\tguesses\tright\t\n")
	for _, n := range append([]int{0}, p.drafts...) {
		m, err := p.open(dev, llm.Options{Context: 2048, DraftTokens: n})
		if err != nil {
			return err
		}
		if err := errors.Join(p.measureDrafts(ctx, w, m, n), m.Close(), w.Flush()); err != nil {
			return err
		}
	}
	return nil
}

// open opens the model for the generation of texts.
func (p plan) open(dev *device.Device, o llm.Options) (*llm.Model, error) {
	if p.model != "" {
		return llm.Open(dev, p.model, o)
	}
	mixture, err := random.ParseMixture(p.format)
	if err != nil {
		return nil, err
	}
	f, err := random.GGUF(p.Shape, random.Options{Mixture: mixture, Seed: 1})
	if err != nil {
		return nil, err
	}
	t, err := tokenizer.FromGGUF(f.Metadata)
	if err != nil {
		return nil, err
	}
	return llm.Load(dev, &llm.Files{Weights: f, Tokenizer: t}, o)
}

// measureDrafts measures the texts of a model with n guesses.
func (p plan) measureDrafts(ctx context.Context, w *tabwriter.Writer, m *llm.Model, n int) error {
	prompts := []string{"Repeat the following text exactly, word for word:\n\n" + passage, "Why is the sky blue? Explain in detail."}
	r := llm.Request{MaxTokens: 128, IgnoreEnd: true}
	for i, prompt := range prompts {
		if r.Bias = nil; p.model == "" && i == 0 {
			r.Bias = map[int32]float64{100: 1e4}
		}
		for range 3 {
			var u llm.Usage
			r.Usage = &u
			tokens := m.Generate(ctx, prompt, r)
			if m.HasChat() {
				tokens = m.Chat(ctx, []chat.Message{{Role: "user", Content: prompt}}, r)
			}
			for _, err := range tokens {
				if err != nil {
					return err
				}
			}
			fmt.Fprintf(w, "%d, text %d\t%.1f\t%d\t%d\t\n", n, i+1, u.Rate(), u.Drafted, u.Accepted)
		}
	}
	return nil
}
