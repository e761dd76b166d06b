package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/openai"
)

type serveCommand struct {
	modelSource
	Listen   string        `default:"localhost:8080" placeholder:"ADDRESS" help:"The address to listen on. The default allows only this machine; :8080 means all addresses, which needs -key."`
	Name     string        `placeholder:"NAME" help:"The name of the model in requests. Default: that of the file."`
	Key      []string      `sep:"none" env:"GOPHERWARP_API_KEY" placeholder:"KEY" help:"An API key that clients must send. May be repeated. The environment is safer than an argument, which other users of the machine can see."`
	Parallel int           `placeholder:"N" help:"The largest number of texts that are generated at once. Default: 8 on a CPU, 64 on a GPU."`
	Requests int           `default:"256" placeholder:"N" help:"The largest number of requests that run or wait. Others are refused with status 429."`
	Drain    time.Duration `default:"30s" placeholder:"TIME" help:"How long answers may take after an interrupt or SIGTERM."`
}

// Help is the text after the flags.
func (serveCommand) Help() string {
	return `Serves a language model with the protocol of OpenAI's API: /v1/chat/completions, /v1/completions and /v1/models.
/health says whether the model can answer, and /metrics has metrics for Prometheus under vLLM's names.
Connections are not encrypted.

Example:
  gopherwarp serve -model SmolLM2-135M-Instruct.Q4_1.gguf &
  curl -s localhost:8080/v1/chat/completions -d '{"messages": [{"role": "user", "content": "Why is the sky blue?"}]}'`
}

// Run is called by kong.
func (c *serveCommand) Run(ctx context.Context, t terminal) error {
	if err := c.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", c.Listen) // before a model is loaded, which takes time
	if err != nil {
		return err
	}
	dev, m, err := c.open(t, c.Parallel)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return errors.Join(c.serve(ctx, t, listener, m), m.Close(), dev.Close())
}

// check returns the error of flags that make no sense.
func (c *serveCommand) check() error {
	if err := c.modelSource.check(); err != nil {
		return err
	}
	if c.Requests < 1 || c.Drain < 0 || c.Parallel < 0 {
		return exit{exitUsage, errors.New("-requests must be positive, and -drain and -parallel must not be negative")}
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return exit{exitUsage, fmt.Errorf("-listen: %w", err)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && len(c.Key) == 0 {
		return exit{exitUsage, fmt.Errorf("-listen=%s lets other machines connect, which needs -key", c.Listen)}
	}
	return nil
}

// name returns the model's name in requests.
func (c *serveCommand) name() string {
	if c.Name != "" {
		return c.Name
	}
	base := filepath.Base(filepath.Clean(c.Model))
	return strings.TrimSuffix(base, ".gguf")
}

// serve serves a model until ctx is done, and then lets answers end.
func (c *serveCommand) serve(ctx context.Context, t terminal, l net.Listener, m *llm.Model) error {
	handler, err := openai.New(openai.Options{Models: map[string]openai.Model{c.name(): m}, Keys: c.Key, Requests: c.Requests})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler: handler, BaseContext: func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	fmt.Fprintf(t.out, "serving %s at http://%s/v1\n", c.name(), l.Addr())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	console.Print(t.err, "answers that have begun end; no new requests are accepted", 0)
	drain, end := context.WithTimeout(requests, c.Drain)
	defer end()
	if err := server.Shutdown(drain); err == nil {
		return nil
	}
	cancel() // ends the answers
	return server.Close()
}
