package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/rerank"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/listen"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/pictures"
	"github.com/gopherwarp/gopherwarp/serve/repository"
	"github.com/gopherwarp/gopherwarp/serve/spans"
)

// models are the models of a server by their names, for the protocols of each kind.
type models struct {
	all      *repository.Repository
	texts    map[string]*repository.Model[gate.Model]
	vectors  map[string]*repository.Model[openai.Embedder]
	ranks    map[string]*repository.Model[openai.Reranker]
	pictures map[string]*repository.Model[pictures.Model]
}

// newModels returns no models.
func newModels(o repository.Options) models {
	return models{
		repository.New(o), map[string]*repository.Model[gate.Model]{}, map[string]*repository.Model[openai.Embedder]{},
		map[string]*repository.Model[openai.Reranker]{}, map[string]*repository.Model[pictures.Model]{},
	}
}

// server is a server of models on a device.
type server struct {
	*serveCommand
	models
	t         terminal
	device    *device.Device
	list      []served
	labels    map[string][]string // the names of classes, by the name of the model for pictures
	protocols *protocols
	tracer    *spans.Tracer // nil without traces
	ending    atomic.Bool   // the server has been told to end
	draining  time.Time     // since when answers end; zero before
}

// newServer opens the device and returns a server of models, of which none is loaded.
func (c *serveCommand) newServer(t terminal, list []served) (*server, error) {
	labels, err := c.readLabels(list)
	if err != nil {
		return nil, err
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return nil, err
	}
	if c.Parallel == 0 {
		c.Parallel = parallelOn(dev)
	}
	s := &server{serveCommand: c, t: t, device: dev, list: list, labels: labels}
	s.models = newModels(repository.Options{KeepAlive: c.Keep, Changed: s.report})
	for _, m := range list {
		if err := s.add(m); err != nil {
			return nil, errors.Join(err, dev.Close())
		}
	}
	if len(s.texts) < len(list) {
		collectRarely(dev)
	}
	if s.tracer, err = newTracer(t, os.Getenv); err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	if s.protocols, err = s.handle(); err != nil {
		s.flush()
		return nil, errors.Join(err, dev.Close())
	}
	return s, nil
}

// readLabels returns the names of the classes of the models for pictures. The error is an exit.
func (c *serveCommand) readLabels(list []served) (map[string][]string, error) {
	given, err := readLines(c.Labels)
	if err != nil {
		return nil, exit{exitUsage, err}
	}
	labels := map[string][]string{}
	for _, m := range list {
		if m.kind != pictureModel {
			continue
		}
		labels[m.name] = given
		if c.Labels == "" {
			if labels[m.name], err = labelsIn(m.path); err != nil {
				return nil, exit{exitUsage, err}
			}
		}
	}
	if c.Labels != "" && len(labels) != 1 {
		return nil, exit{exitUsage, fmt.Errorf("-labels is for one model for pictures, and there are %d", len(labels))}
	}
	return labels, nil
}

// collectRarely lets the heap of a server that computes on a GPU become 17 times as large before its garbage is collected, not twice. The
// heap in use is small, because the weights are on the GPU, but many requests a second allocate much, and those that arrive during a
// collection take longer. The environment variable GOGC has precedence.
func collectRarely(d *device.Device) {
	if _, set := os.LookupEnv("GOGC"); !set && d.Info().GPU {
		debug.SetGCPercent(1600)
	}
}

// add adds a model.
func (s *server) add(m served) (err error) {
	switch m.kind {
	case vectorModel:
		s.vectors[m.name], err = repository.Add(s.all, m.name, s.loadVectors(m))
	case rankModel:
		s.ranks[m.name], err = repository.Add(s.all, m.name, s.loadRanks(m))
	case pictureModel:
		s.pictures[m.name], err = repository.Add(s.all, m.name, s.loadPictures(m))
	default:
		s.texts[m.name], err = repository.Add(s.all, m.name, s.loadTexts(m))
	}
	return err
}

// textsOfRequest is the number of waiting texts for each request that the server admits. Requests may have many texts, and those of clients
// that have left are there until the next step.
const textsOfRequest = 16

// loadTexts returns the function that loads a language model.
func (s *server) loadTexts(of served) func(context.Context) (gate.Model, func() error, error) {
	return func(ctx context.Context) (gate.Model, func() error, error) {
		p := console.StartProgress(s.t.err)
		l := newLoading(p, of.path)
		m, err := llm.Open(s.device, of.path, llm.Options{
			Memory: l.memory, Map: s.on(), Context: s.Context, CacheDType: s.dtype(), Sequences: s.Parallel, WaitingTexts: textsOfRequest * s.Requests, WaitingTokens: s.Queue,
			Deterministic: s.Repeat, DraftTokens: s.DraftMax, DraftModel: s.DraftModel, Adapter: of.adapter, Adapters: of.adapters, Progress: l.progress, Interrupt: ctx.Err,
		})
		p.Stop()
		if err != nil {
			return nil, nil, err
		}
		warnOfContext(s.t, of.name, s.Context, m)
		return m, s.freeing(m.Close), nil
	}
}

// loadVectors returns the function that loads an embedding model.
func (s *server) loadVectors(of served) func(context.Context) (openai.Embedder, func() error, error) {
	return func(ctx context.Context) (openai.Embedder, func() error, error) {
		show, stop := s.progress(of)
		defer stop()
		m, err := s.poolingFlag.open(ctx, s.device, of.path, embeddings.Options{Map: s.on(), Progress: show})
		if err != nil {
			return nil, nil, err
		}
		return m, s.freeing(m.Close), nil
	}
}

// loadRanks returns the function that loads a cross-encoder.
func (s *server) loadRanks(of served) func(context.Context) (openai.Reranker, func() error, error) {
	return func(context.Context) (openai.Reranker, func() error, error) {
		show, stop := s.progress(of)
		defer stop()
		m, err := rerank.Open(s.device, of.path, rerank.Options{Map: s.on(), Progress: show})
		if err != nil {
			return nil, nil, err
		}
		return m, s.freeing(m.Close), nil
	}
}

// loadPictures returns the function that loads a model for pictures.
func (s *server) loadPictures(of served) func(context.Context) (pictures.Model, func() error, error) {
	return func(context.Context) (pictures.Model, func() error, error) {
		show, stop := s.progress(of)
		defer stop()
		m, err := classify.Open(s.device, of.path, classify.Options{Names: s.labels[of.name], Map: s.on(), Progress: show})
		if err != nil {
			return nil, nil, err
		}
		return m, s.freeing(m.Close), nil
	}
}

// freeing returns a function that closes a model and returns its memory to the system, for other programs: that of the device, and that of
// the host.
func (s *server) freeing(closing func() error) func() error {
	return func() error {
		err := errors.Join(closing(), s.device.Trim())
		closing = nil // which refers to the model
		runtime.GC()  // ends the cleanups of buffers, which refer to the memory of a CPU device
		debug.FreeOSMemory()
		return err
	}
}

// progress returns a function that shows the progress of a load, and one that ends it.
func (s *server) progress(m served) (show func(done, total int64), stop func()) {
	p := console.StartProgress(s.t.err)
	return newLoading(p, m.path).progress, p.Stop
}

// report prints that a model has been loaded or unloaded, if that may happen at any time.
func (s *server) report(m repository.Status) {
	if !s.Demand && s.Keep == 0 {
		return
	}
	switch {
	case m.State == repository.Ready && m.Loads > 0:
		console.Print(s.t.err, fmt.Sprintf("%s is loaded, after %v", m.Name, m.Took.Round(time.Millisecond)), 2)
	case m.State == repository.Failed:
		console.Print(s.t.err, fmt.Sprintf("%s cannot be loaded: %v", m.Name, m.Err), 2)
	case m.State == repository.Unloaded && m.Err != nil:
		console.Print(s.t.err, fmt.Sprintf("%s is unloaded: %v", m.Name, m.Err), 2)
	case m.State == repository.Unloaded:
		console.Print(s.t.err, m.Name+" is unloaded", 2)
	}
}

// preload loads all models, unless they are loaded on demand. If only some models can be loaded, it prints the errors of the others. It
// returns nil if ctx ends.
func (s *server) preload(ctx context.Context) error {
	if s.Demand {
		return nil
	}
	var failed []error
	for _, m := range s.list {
		err := s.all.Load(ctx, m.name)
		if ctx.Err() != nil {
			return nil
		}
		if cause, ok := errors.AsType[*repository.LoadError](err); ok {
			err = cause.Err
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) == len(s.list) {
		return errors.Join(failed...)
	}
	for _, err := range failed {
		console.Print(s.t.err, err.Error(), 2)
	}
	return nil
}

// serve serves the models until ctx is done, and then lets answers end.
func (s *server) serve(ctx context.Context, l socket) error {
	var names []string
	for _, m := range s.list {
		names = append(names, m.name)
	}
	fmt.Fprintf(s.t.out, "serving %s at %s/v1\n", strings.Join(names, ", "), l.url())
	defer context.AfterFunc(ctx, func() {
		if s.ending.Store(true); s.Wait > 0 {
			console.Print(s.t.err, fmt.Sprintf("the server is no longer ready; it accepts requests for another %v", s.Wait), 0)
		}
	})()
	return listen.Serve(ctx, l.Listener, s.handler(), listen.Options{
		Connections: s.Sockets, Delay: s.Wait, Drain: s.Drain, TLS: l.secure,
		Draining: func() {
			s.draining = time.Now()
			console.Print(s.t.err, "answers that have begun end; no new requests are accepted; a second interrupt ends the server at once", 0)
		},
	})
}

// handler returns the handler of all requests. Without keys, only this machine can connect, and the handler refuses what foreign web pages send.
func (s *server) handler() http.Handler {
	all := s.protocols.all
	if len(s.Key) == 0 {
		all = listen.Local(all)
	}
	return s.tracer.Handler(logging(all, s.t.err, s.Log))
}

// close ends the server: first what uses the models.
func (s *server) close() error {
	err := s.protocols.close()
	s.flush()
	return errors.Join(err, s.all.Close(), s.device.Close())
}
