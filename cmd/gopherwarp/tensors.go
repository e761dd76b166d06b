package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/cuda/nvml"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/metrics"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/kserve"
	"github.com/gopherwarp/gopherwarp/serve/kserve/rpc"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/pictures"
)

// queued is a handler whose queue must be closed.
type queued interface {
	http.Handler
	Close()
}

// gate returns a gate for a model that does not generate texts.
func (c *serveCommand) gate() (*gate.Gate, error) {
	return gate.New(gate.Options{Others: []string{c.name()}, AnyName: c.AnyName, Keys: c.Key, Requests: c.Requests, Time: c.Timeout})
}

// tensorMetrics are those of a server of tensors: of the model, and of the machine's GPUs, if it has any.
type tensorMetrics struct {
	*kserve.Metrics
	gpus []prometheus.Collector
}

// all returns the metrics of the server.
func (m tensorMetrics) list() []prometheus.Collector { return append(m.gpus, m.Metrics) }

// serveTensors serves a model with the handler for its own requests and in KServe's protocol.
func (c *serveCommand) serveTensors(ctx context.Context, t terminal, l socket, handler func(*gate.Gate, tensorMetrics) (queued, kserve.Model, error)) error {
	g, err := c.gate()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	gpus, closeLibrary := gpuMetrics()
	defer closeLibrary()
	all := tensorMetrics{kserve.NewMetrics(c.name()), gpus}
	h, m, err := handler(g, all)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer h.Close()
	both, err := kserve.Handle(g, kserve.Options{Models: map[string]kserve.Model{c.name(): m}, Metrics: all.Metrics, Next: h})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return c.serve(ctx, t, l, rpc.Handle(both, both))
}

// gpuMetrics returns the metrics of the machine's GPUs, or none without NVIDIA's library, and a function that ends their use.
func gpuMetrics() (list []prometheus.Collector, end func()) {
	lib, err := nvml.Open()
	if err != nil {
		return nil, func() {}
	}
	end = func() { _ = lib.Close() } // nothing depends on it any more
	if gpus, err := metrics.NewGPUs(lib); err == nil {
		list = append(list, gpus)
	}
	return list, end
}

// collectRarely lets the heap of a server that computes on a GPU, which is small, become five times as large before its garbage is
// collected, not twice: many requests a second allocate much. The environment variable GOGC has precedence.
func collectRarely(d *device.Device) {
	if _, set := os.LookupEnv("GOGC"); !set && d.Info().GPU {
		debug.SetGCPercent(400)
	}
}

// serveEmbeddings serves a model that computes vectors.
func (c *serveCommand) serveEmbeddings(ctx context.Context, t terminal, l socket) error {
	dev, m, err := openEmbeddings(t, c.Model, embeddings.Options{})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	collectRarely(dev)
	err = c.serveTensors(ctx, t, l, func(g *gate.Gate, all tensorMetrics) (queued, kserve.Model, error) {
		h, err := openai.HandleEmbedders(g, openai.EmbedOptions{
			Models: map[string]openai.Embedder{c.name(): m}, Delay: c.Delay, Observe: all.Observe, Metrics: all.list(),
		})
		if err != nil {
			return nil, nil, err
		}
		return h, kserve.Vectors(h.Queued(c.name())), nil
	})
	return errors.Join(err, m.Close(), dev.Close())
}

// servePictures serves a model that classifies pictures.
func (c *serveCommand) servePictures(ctx context.Context, t terminal, l socket) error {
	dev, m, labels, err := c.openClassifier(t)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	collectRarely(dev)
	err = c.serveTensors(ctx, t, l, func(g *gate.Gate, all tensorMetrics) (queued, kserve.Model, error) {
		h, err := pictures.Handle(g, pictures.Options{
			Name: c.name(), Model: m, Labels: labels, Delay: c.Delay, Observe: all.Observe, Metrics: all.list(),
		})
		if err != nil {
			return nil, nil, err
		}
		return h, kserve.Pictures(h), nil
	})
	return errors.Join(err, m.Close(), dev.Close())
}

// openClassifier opens a model for pictures and reads the names of its classes.
func (c *serveCommand) openClassifier(t terminal) (*device.Device, *classify.Model, []string, error) {
	labels, err := readLines(c.Labels)
	if err != nil {
		return nil, nil, nil, exit{exitUsage, err}
	}
	dev, err := gopherwarp.Open()
	if err != nil {
		return nil, nil, nil, err
	}
	progress := console.StartProgress(t.err)
	m, err := classify.Open(dev, c.Model, classify.Options{Names: labels, Progress: func(done, total int64) {
		progress.Show("loading %s: %d of %d MB", c.Model, done>>20, total>>20)
	}})
	progress.Stop()
	if err != nil {
		return nil, nil, nil, errors.Join(err, dev.Close())
	}
	return dev, m, labels, nil
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
