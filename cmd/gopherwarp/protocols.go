package main

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/cuda/nvml"
	"github.com/gopherwarp/gopherwarp/metrics"
	"github.com/gopherwarp/gopherwarp/serve/anthropic"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/kserve"
	"github.com/gopherwarp/gopherwarp/serve/kserve/rpc"
	"github.com/gopherwarp/gopherwarp/serve/llamacpp"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/page"
	"github.com/gopherwarp/gopherwarp/serve/pictures"
)

// protocols are the handlers of a server.
type protocols struct {
	all      http.Handler
	openai   *openai.Handler
	pictures *pictures.Handler
	library  *nvml.Library // may be nil
}

// handle makes the handlers of the server.
func (s *server) handle() (*protocols, error) {
	g, err := s.gate()
	if err != nil {
		return nil, err
	}
	p, counts := &protocols{}, kserve.NewMetrics(g.Others...)
	if p.pictures, err = pictures.Handle(g, pictures.Options{Models: s.pictures, Labels: s.labels, Delay: s.Delay, Observe: counts.Observe, Began: counts.Begin}); err != nil {
		return nil, errors.Join(err, p.close())
	}
	vectors := openai.EmbedOptions{Models: s.vectors, Rerankers: s.ranks, Delay: s.Delay, Observe: counts.Observe, Began: counts.Begin, Health: s.healthOf(p), Metrics: slices.Concat(p.gpuMetrics(), spanMetrics(s.tracer))}
	if len(g.Others) > 0 {
		vectors.Metrics = slices.Concat(vectors.Metrics, p.pictures.Metrics(), []prometheus.Collector{counts})
	}
	if p.openai, err = openai.HandleEmbedders(g, vectors); err != nil {
		return nil, errors.Join(err, p.close())
	}
	tensors := map[string]kserve.Model{}
	for name := range s.vectors {
		tensors[name] = kserve.Vectors(p.openai.Queued(name))
	}
	for name := range s.pictures {
		tensors[name] = kserve.Pictures(p.pictures.Classifier(name))
	}
	k, err := kserve.Handle(g, kserve.Options{Models: tensors, Metrics: counts, Health: p.openai.Health, Next: s.mux(g, p)})
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.all = rpc.Handle(k, k)
	return p, nil
}

// healthOf returns the part of the server's health that does not depend on models for texts and vectors. A server that has been told to end is
// not ready.
func (s *server) healthOf(p *protocols) func(context.Context) error {
	return func(ctx context.Context) error {
		if s.ending.Load() {
			return errors.New("the server is shutting down")
		}
		return p.pictures.Health(ctx)
	}
}

// gate returns the gate of all protocols.
func (s *server) gate() (*gate.Gate, error) {
	adapters := map[string]string{}
	for _, m := range s.list {
		for name := range m.adapters {
			adapters[name] = m.name
		}
	}
	return gate.New(gate.Options{
		OnDemand: s.texts, Others: slices.Concat(slices.Collect(maps.Keys(s.vectors)), slices.Collect(maps.Keys(s.ranks)), slices.Collect(maps.Keys(s.pictures))), Adapters: adapters,
		Repository: s.all, AnyName: s.AnyName, Keys: s.Key, Requests: s.Requests, Time: s.Timeout,
	})
}

// mux returns the handler of all protocols but KServe's.
func (s *server) mux(g *gate.Gate, p *protocols) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/classify", p.pictures)
	first := page.Handler()
	if len(s.texts) == 0 {
		first = page.State()
	}
	mux.Handle("GET /{$}", first)
	mux.Handle("GET /page/", first)
	if len(s.texts) == 0 {
		mux.Handle("/", p.openai)
		return mux
	}
	paths := map[string]string{}
	for _, m := range s.list {
		paths[m.name] = m.path
	}
	mux.Handle("/", llamacpp.Handle(g, p.openai, llamacpp.Options{Paths: paths, Slots: s.Parallel}))
	messages := anthropic.Handle(g)
	mux.Handle("/v1/messages", messages)
	mux.Handle("/v1/messages/", messages)
	return mux
}

// gpuMetrics returns the metrics of the machine's GPUs, or none without NVIDIA's library.
func (p *protocols) gpuMetrics() (list []prometheus.Collector) {
	lib, err := nvml.Open()
	if err != nil {
		return nil
	}
	p.library = lib
	if gpus, err := metrics.NewGPUs(lib); err == nil {
		list = append(list, gpus)
	}
	return list
}

// close ends the queues of the handlers. It waits until all accepted requests are computed.
func (p *protocols) close() error {
	if p.openai != nil {
		p.openai.Close()
	}
	if p.pictures != nil {
		p.pictures.Close()
	}
	if p.library != nil {
		return p.library.Close()
	}
	return nil
}

// labelsIn returns the names of the classes in labels.txt of a model's folder, or none without that file.
func labelsIn(model string) ([]string, error) {
	name := filepath.Join(model, "labels.txt")
	if _, err := os.Stat(name); err != nil {
		return nil, nil
	}
	return readLines(name)
}

// readLines returns the lines of a file, or none without a name.
func readLines(name string) (list []string, err error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	for line := range strings.Lines(string(text)) {
		list = append(list, strings.TrimSpace(line))
	}
	return list, err
}
