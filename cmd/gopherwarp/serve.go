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

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/anthropic"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/listen"
	"github.com/gopherwarp/gopherwarp/serve/llamacpp"
	"github.com/gopherwarp/gopherwarp/serve/openai"
	"github.com/gopherwarp/gopherwarp/serve/page"
)

type serveCommand struct {
	modelSource
	Adapter  []string      `sep:"none" placeholder:"[NAME=]DIR" help:"A LoRA adapter for the model: a folder that finetune or the Python package PEFT wrote. Requests choose the adapter by giving its name as the name of the model. An adapter without a name applies to all requests. May be repeated."`
	Listen   string        `default:"localhost:8080" placeholder:"ADDRESS" help:"The address to listen on. By default, only this machine can connect. :8080 means all addresses, and needs -key or -key-file."`
	Name     string        `placeholder:"NAME" help:"The name of the model in requests. Default: the name of the file."`
	AnyName  bool          `name:"any-name" help:"Answer requests for models of any name, as llama-server does."`
	Key      []string      `sep:"none" env:"GOPHERWARP_API_KEY" placeholder:"KEY" help:"An API key that clients must send. May be repeated. Other users of the machine can see arguments, so the environment variable GOPHERWARP_API_KEY is safer."`
	KeyFile  string        `placeholder:"FILE" help:"A file with API keys, one on each line. Empty lines and lines that begin with # are ignored."`
	TLSCert  string        `name:"tls-cert" placeholder:"FILE" help:"A PEM file with the certificate of the server and the certificates of its issuers. Needs -tls-key."`
	TLSKey   string        `name:"tls-key" placeholder:"FILE" help:"A PEM file with the private key of the certificate."`
	Parallel int           `placeholder:"N" help:"The largest number of texts that are generated at once. Default: 8 on a CPU, 64 on a GPU."`
	Requests int           `default:"256" placeholder:"N" help:"The largest number of requests that run or wait. Further requests are refused with status 429."`
	Queue    int           `name:"queue-tokens" default:"1000000" placeholder:"N" help:"The largest number of tokens of all waiting prompts together. Requests beyond this limit are refused with status 429. 0 means no limit."`
	Repeat   bool          `name:"deterministic" help:"Make each answer independent of other requests. Answers then take longer."`
	Timeout  time.Duration `default:"10m" placeholder:"TIME" help:"How long a request may take, including its wait. 0 means no limit."`
	Sockets  int           `name:"connections" default:"16384" placeholder:"N" help:"The largest number of connections. Further connections wait; connections without a request are closed to make room for them."`
	Delay    time.Duration `default:"0s" placeholder:"TIME" help:"How long a text or picture may wait, while the device is idle, for others to be computed together with it."`
	Labels   string        `placeholder:"FILE" help:"A file with the names of the classes of pictures, one on each line. Default: numbers instead of names."`
	Drain    time.Duration `default:"30s" placeholder:"TIME" help:"How long answers may take after an interrupt or SIGTERM."`
}

// Help is the text after the flags.
func (serveCommand) Help() string {
	return `Serves a language model with the protocols of OpenAI's API (/v1/chat/completions, /v1/completions, /v1/responses and
/v1/models) and of Anthropic's (/v1/messages), and the requests of llama-server (/completion and others). The path / is a
page for chats with the model, /health reports whether the model can answer, and /metrics has metrics for Prometheus
under vLLM's names.

An embedding model is served at /v1/embeddings, with metrics under the names of Text Embeddings Inference. A model for
pictures is served at /classify. Both kinds of models are also served at /v2, in the protocol of KServe and Triton, with
metrics under Triton's names.

Example:
  gopherwarp serve -model SmolLM2-135M-Instruct.Q4_1.gguf &
  curl -s localhost:8080/v1/chat/completions -d '{"messages": [{"role": "user", "content": "Why is the sky blue?"}]}'
  gopherwarp serve -model SmolLM2-135M-Instruct.Q4_1.gguf -adapter legal=adapters/legal -adapter poems=adapters/poems
  gopherwarp serve -model models/all_minilm_l6_v2 -listen localhost:8081 &
  curl -s localhost:8081/v1/embeddings -d '{"input": "A man plays the guitar."}'
  gopherwarp serve -model models/efficientnet_lite0 -listen localhost:8082 &
  curl -s localhost:8082/classify --data-binary @flower.jpg`
}

// textsOfRequest is the number of waiting texts for each request that the server admits. Requests may have many texts, and those of clients
// that have left are there until the next step.
const textsOfRequest = 16

// Run is called by kong.
func (c *serveCommand) Run(ctx context.Context, t terminal) error {
	if err := c.check(); err != nil {
		return err
	}
	embeds := embeddings.Supports(c.Model)
	if embeds && len(c.Adapter) > 0 {
		return exit{exitUsage, fmt.Errorf("-adapter: %s is an embedding model", c.Model)}
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
	l := socket{listener, secure}
	switch {
	case embeds:
		return c.serveEmbeddings(ctx, t, l)
	case classify.Supports(c.Model):
		return c.servePictures(ctx, t, l)
	}
	adapter, adapters, err := c.adapters()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	dev, m, err := c.open(t, llm.Options{
		Sequences: c.Parallel, WaitingTexts: textsOfRequest * c.Requests, WaitingTokens: c.Queue,
		Deterministic: c.Repeat, Adapter: adapter, Adapters: adapters,
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if c.Parallel == 0 {
		c.Parallel = parallelOn(dev)
	}
	handler, err := c.handler(m)
	if err != nil {
		return errors.Join(err, l.Close(), m.Close(), dev.Close())
	}
	return errors.Join(c.serve(ctx, t, l, handler), m.Close(), dev.Close())
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
	if _, _, err := c.adapters(); err != nil {
		return err
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

// adapters returns the folder of the adapter of all requests, or "", and those of the others by their names.
func (c *serveCommand) adapters() (all string, named map[string]string, err error) {
	named = map[string]string{}
	for _, text := range c.Adapter {
		name, folder, ok := strings.Cut(text, "=")
		switch {
		case !ok && all != "":
			return "", nil, exit{exitUsage, fmt.Errorf("-adapter: %s and %s have no names", all, text)}
		case !ok:
			all = text
		case name == "" || name == c.name() || named[name] != "":
			return "", nil, exit{exitUsage, fmt.Errorf("-adapter: %q is empty, or the name of the model or of another adapter", name)}
		default:
			named[name] = folder
		}
	}
	return all, named, nil
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
	_, adapters, err := c.adapters()
	if err != nil {
		return nil, err
	}
	for name := range adapters {
		adapters[name] = c.name()
	}
	g, err := gate.New(gate.Options{Models: map[string]gate.Model{c.name(): m}, Adapters: adapters, AnyName: c.AnyName, Keys: c.Key, Requests: c.Requests, Time: c.Timeout})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/", llamacpp.Handle(g, openai.Handle(g), llamacpp.Options{Path: c.Model, Slots: c.Parallel}))
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

// url returns the address for clients.
func (s socket) url() string {
	if s.secure == nil {
		return "http://" + s.Addr().String()
	}
	return "https://" + s.Addr().String()
}

// serve serves a model until ctx is done, and then lets answers end.
func (c *serveCommand) serve(ctx context.Context, t terminal, l socket, handler http.Handler) error {
	fmt.Fprintf(t.out, "serving %s at %s/v1\n", c.name(), l.url())
	return listen.Serve(ctx, l.Listener, handler, listen.Options{
		Connections: c.Sockets, Drain: c.Drain, TLS: l.secure,
		Draining: func() { console.Print(t.err, "answers that have begun end; no new requests are accepted", 0) },
	})
}
