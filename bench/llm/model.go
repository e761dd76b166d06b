package main

import (
	"errors"
	"strings"

	"github.com/gopherwarp/gopherwarp/bench/random"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
)

// loaded is a model, and the size of what a step of decoding reads.
type loaded struct {
	*llama.Model
	bytes int
}

// load loads the model in the file or, if there is none, one with random weights.
func (p plan) load(s *device.Stream) (loaded, error) {
	if p.model != "" {
		f, err := llm.OpenFiles(p.model)
		if err != nil {
			return loaded{}, err
		}
		m, err := loadFrom(s, f)
		return m, errors.Join(err, f.Weights.Close())
	}
	mixture, err := random.ParseMixture(p.format)
	if err != nil {
		return loaded{}, err
	}
	f, err := random.GGUF(p.Shape, random.Options{Mixture: mixture, Seed: 1})
	if err != nil {
		return loaded{}, err
	}
	return loadFrom(s, &llm.Files{Weights: f})
}

// loadFrom loads a model. A step reads all matrices, but only a row of the table of embeddings, unless the output uses the table.
func loadFrom(s *device.Stream, f *llm.Files) (loaded, error) {
	m, err := llama.Load(s, f.Weights, llama.LoadOptions{Config: f.Config})
	if err != nil {
		return loaded{}, err
	}
	l := loaded{Model: m}
	for _, t := range f.Weights.Tensors {
		if m.Tied || !strings.Contains(t.Name(), "embd") && !strings.Contains(t.Name(), "embed_tokens") {
			l.bytes += t.Size()
		}
	}
	return l, nil
}

// products returns the number of weights that are multiplied for each token, without the head.
func (l loaded) products() int {
	return l.Layers * (l.Hidden*l.HeadDim*(2*l.Heads+2*l.KeyHeads) + 3*l.Hidden*l.FFN)
}
