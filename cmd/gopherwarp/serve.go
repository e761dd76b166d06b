package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/anthropic"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/page"
)

type serveCommand struct {
	modelSource
	Listen   string        `default:"localhost:8080" placeholder:"ADDRESS" help:"The address to listen on. The default allows only this machine; :8080 means all addresses, which needs -key or -key-file."`
	Name     string        `placeholder:"NAME" help:"The name of the model in requests. Default: that of the file."`
	Key      []string      `sep:"none" env:"GOPHERWARP_API_KEY" placeholder:"KEY" help:"An API key that clients must send. May be repeated. The environment is safer than an argument, which other users of the machine can see."`
	KeyFile  string        `placeholder:"FILE" help:"A file with API keys, one a line. Empty lines and those that begin with # are ignored."`
	TLSCert  string        `name:"tls-cert" placeholder:"FILE" help:"The certificate of the server in PEM, with those of its issuers. Needs -tls-key."`
	TLSKey   string        `name:"tls-key" placeholder:"FILE" help:"The private key of the certificate in PEM."`
	Parallel int           `placeholder:"N" help:"The largest number of texts that are generated at once. Default: 8 on a CPU, 64 on a GPU."`
	Requests int           `default:"256" placeholder:"N" help:"The largest number of requests that run or wait. Others are refused with status 429."`
	Queue    int           `name:"queue-tokens" default:"1000000" placeholder:"N" help:"The largest number of tokens of the prompts that wait. Requests beyond it are refused with status 429. 0 for no limit."`
	Repeat   bool          `name:"deterministic" help:"Make an answer independent of the requests beside it, which takes longer."`
	Timeout  time.Duration `default:"10m" placeholder:"TIME" help:"How long a request may take, with its wait. 0 for no limit."`
	Sockets  int           `name:"connections" default:"1024" placeholder:"N" help:"The largest number of connections. Others wait until one ends."`
	Delay    time.Duration `default:"0s" placeholder:"TIME" help:"How long a text may wait for others whose vectors are computed together with its own."`
	Drain    time.Duration `default:"30s" placeholder:"TIME" help:"How long answers may take after an interrupt or SIGTERM."`
}

// Help is the text after the flags.
func (serveCommand) Help() string {
	return `Serves a language model with the protocols of OpenAI's API (/v1/chat/completions, /v1/completions, /v1/responses and /v1/models) and
of Anthropic's (/v1/messages). / is a page on which people talk to the model. /health says whether the model can answer, and
/metrics has metrics for Prometheus under vLLM's names.
A folder with an embedding model is served at /v1/embeddings, with metrics under the names of Text Embeddings Inference.

Example:
  gopherwarp serve -model SmolLM2-135M-Instruct.Q4_1.gguf &
  curl -s localhost:8080/v1/chat/completions -d '{"messages": [{"role": "user", "content": "Why is the sky blue?"}]}'
  gopherwarp serve -model models/all_minilm_l6_v2 -listen localhost:8081 &
  curl -s localhost:8081/v1/embeddings -d '{"input": "A man plays the guitar."}'`
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
	secure, err := c.secure()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	l := socket{newLimited(listener, c.Sockets), secure}
	if embeddings.Supports(c.Model) {
		return c.serveEmbeddings(ctx, t, l)
	}
	dev, m, err := c.open(t, llm.Options{Sequences: c.Parallel, WaitingTokens: c.Queue, Deterministic: c.Repeat})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	handler, err := c.handler(m)
	if err != nil {
		return errors.Join(err, l.Close(), m.Close(), dev.Close())
	}
	return errors.Join(c.serve(ctx, t, l, handler), m.Close(), dev.Close())
}

// serveEmbeddings serves a model that computes vectors.
func (c *serveCommand) serveEmbeddings(ctx context.Context, t terminal, l socket) error {
	dev, m, err := openEmbeddings(t, c.Model, embeddings.Options{})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	name := c.name()
	g, err := gate.New(gate.Options{Others: []string{name}, Keys: c.Key, Requests: c.Requests, Time: c.Timeout})
	if err == nil {
		var h *openai.Handler
		if h, err = openai.HandleEmbedders(g, openai.EmbedOptions{Models: map[string]openai.Embedder{name: m}, Delay: c.Delay}); err == nil {
			err = c.serve(ctx, t, l, h)
			h.Close()
			return errors.Join(err, m.Close(), dev.Close())
		}
	}
	return errors.Join(err, l.Close(), m.Close(), dev.Close())
}

// check returns the error of flags that make no sense.
func (c *serveCommand) check() error {
	if err := c.modelSource.check(); err != nil {
		return err
	}
	if c.Requests < 1 || c.Sockets < 1 || c.Drain < 0 || c.Parallel < 0 || c.Timeout < 0 || c.Queue < 0 || c.Delay < 0 {
		return exit{exitUsage, errors.New("-requests and -connections must be positive, and -queue-tokens, -delay, -drain, -parallel and -timeout must not be negative")}
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return exit{exitUsage, errors.New("-tls-cert and -tls-key need each other")}
	}
	if err := c.readKeys(); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return exit{exitUsage, fmt.Errorf("-listen: %w", err)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && len(c.Key) == 0 {
		return exit{exitUsage, fmt.Errorf("-listen=%s lets other machines connect, which needs -key or -key-file", c.Listen)}
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

// readKeys adds the keys of the file to those of the flag.
func (c *serveCommand) readKeys() error {
	if c.KeyFile == "" {
		return nil
	}
	text, err := os.ReadFile(c.KeyFile)
	if err != nil {
		return exit{exitUsage, fmt.Errorf("-key-file: %w", err)}
	}
	n := len(c.Key)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			c.Key = append(c.Key, line)
		}
	}
	if len(c.Key) == n {
		return exit{exitUsage, fmt.Errorf("-key-file: %s has no keys", c.KeyFile)}
	}
	return nil
}

// secure returns the certificate, or nil for connections that are not encrypted.
func (c *serveCommand) secure() (*tls.Config, error) {
	if c.TLSCert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, exit{exitUsage, fmt.Errorf("-tls-cert and -tls-key: %w", err)}
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// handler returns what serves a model: the protocols and the page.
func (c *serveCommand) handler(m gate.Model) (http.Handler, error) {
	g, err := gate.New(gate.Options{Models: map[string]gate.Model{c.name(): m}, Keys: c.Key, Requests: c.Requests, Time: c.Timeout})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", openai.Handle(g))
	messages := anthropic.Handle(g)
	mux.Handle("/v1/messages", messages)
	mux.Handle("/v1/messages/", messages)
	mux.Handle("GET /{$}", page.Handler())
	mux.Handle("GET /page/", page.Handler())
	return mux, nil
}

// socket is where a server listens, and its certificate, unless it is nil.
type socket struct {
	net.Listener
	secure *tls.Config
}

// serve answers requests until the server is shut down.
func (s socket) serve(server *http.Server) error {
	if s.secure == nil {
		return server.Serve(s)
	}
	server.TLSConfig = s.secure
	return server.ServeTLS(s, "", "")
}

// url returns the address for clients.
func (s socket) url() string {
	if s.secure == nil {
		return "http://" + s.Addr().String()
	}
	return "https://" + s.Addr().String()
}

// serve serves a model until ctx is done, and then lets answers end.
func (c *serveCommand) serve(ctx context.Context, t terminal, l socket, handler http.Handler) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler: handler, BaseContext: func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- l.serve(server) }()
	fmt.Fprintf(t.out, "serving %s at %s/v1\n", c.name(), l.url())
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
