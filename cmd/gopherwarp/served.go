package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/rerank"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/weights/formats"
)

// modelKind is a kind of models.
type modelKind int

// The kinds of models that a server serves.
const (
	textModel    modelKind = iota
	vectorModel            // an embedding model
	rankModel              // a cross-encoder
	pictureModel           // it classifies pictures
)

// poolingFlag is the flag that makes a language model an embedding model.
type poolingFlag struct {
	Pooling string `enum:"none,last,mean" default:"none" help:"Compute vectors with a language model: from the activations of a text's last token (last), or from the mean over all tokens (mean). Use the kind that the model was trained with."`
}

// vectors reports whether a model computes vectors of texts. Its files may say so, or the flag may.
func (f poolingFlag) vectors(path string) bool {
	return embeddings.Supports(path) || f.Pooling == "last" || f.Pooling == "mean"
}

// vectorSource is a model that computes vectors of texts.
type vectorSource interface {
	openai.Embedder
	Close() error
}

// open opens a model that computes vectors of texts: an embedding model or, with the flag, a language model, whose load ends when ctx is done.
func (f poolingFlag) open(ctx context.Context, dev *device.Device, path string, o embeddings.Options) (vectorSource, error) {
	if f.Pooling == "" || f.Pooling == "none" || embeddings.Supports(path) {
		m, err := embeddings.Open(dev, path, o)
		if errors.Is(err, embeddings.ErrModel) {
			err = fmt.Errorf("%w; language models need -pooling", err)
		}
		return m, err
	}
	pooling := llm.LastToken
	if f.Pooling == "mean" {
		pooling = llm.MeanTokens
	}
	return llm.OpenEmbedder(dev, path, llm.EmbedOptions{Pooling: pooling, Map: o.Map, Progress: o.Progress, Interrupt: ctx.Err})
}

// kindOfModel returns the kind of the model with a path. A path without a model is that of a language model, which then cannot be loaded.
func (f poolingFlag) kindOfModel(path string) modelKind {
	switch {
	case classify.Supports(path):
		return pictureModel
	case rerank.Supports(path):
		return rankModel
	case f.vectors(path):
		return vectorModel
	}
	return textModel
}

// served is a model of a server.
type served struct {
	name, path string
	kind       modelKind
	adapter    string            // the folder of the adapter of all requests, or ""
	adapters   map[string]string // the folders of others, by their names
}

// served returns the models of the server, with their adapters. The error is an exit.
func (c *serveCommand) served() (list []served, err error) {
	taken := map[string]bool{}
	for _, text := range c.Model {
		m := named(text)
		if len(c.Model) == 1 && c.Name != "" {
			m.name = c.Name
		}
		if m.name == "" || m.path == "" || taken[m.name] {
			return nil, exit{exitUsage, fmt.Errorf("-model=%s: the name or the path is empty, or another model has the name %q", text, m.name)}
		}
		taken[m.name], m.kind = true, c.kindOfModel(m.path)
		list = append(list, m)
	}
	if len(list) > 1 && (c.Name != "" || c.AnyName) {
		return nil, exit{exitUsage, errors.New("-name and -any-name are for a single model; -model NAME=PATH gives each model a name")}
	}
	for _, text := range c.Adapter {
		if err := adapt(list, text, taken); err != nil {
			return nil, exit{exitUsage, fmt.Errorf("-adapter: %w", err)}
		}
	}
	return list, nil
}

// named returns the model that a text names: NAME=PATH, or a path.
func named(text string) served {
	name, path, ok := strings.Cut(text, "=")
	if _, err := os.Stat(text); ok && err != nil {
		return served{name: name, path: path, adapters: map[string]string{}}
	}
	return served{name: formats.Name(text), path: text, adapters: map[string]string{}}
}

// adapt gives a model the adapter that a text describes. The name of the adapter must not be taken.
func adapt(list []served, text string, taken map[string]bool) error {
	name, folder, ok := strings.Cut(text, "=")
	m := &list[0]
	if len(list) > 1 {
		found := false
		for i := range list {
			if rest, is := strings.CutPrefix(name, list[i].name+":"); ok && is {
				m, name, found = &list[i], rest, true
				break
			}
		}
		if !found {
			return fmt.Errorf("%s does not begin with the name of one of the models: MODEL:NAME=DIR", text)
		}
	}
	switch {
	case m.kind != textModel:
		return fmt.Errorf("%s is not a language model", m.path)
	case !ok && m.adapter != "":
		return fmt.Errorf("%s and %s have no names", m.adapter, text)
	case !ok:
		m.adapter = text
	case name == "" || taken[name]:
		return fmt.Errorf("%q is empty, or the name of a model or of another adapter", name)
	default:
		m.adapters[name], taken[name] = folder, true
	}
	return nil
}
