package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

type serveCommand struct {
	Model   []string      `required:"" sep:"none" placeholder:"[NAME=]PATH" help:"A model, and its name in requests. PATH is a GGUF file, a folder with a GGUF file, a folder in Hugging Face's format (config.json and safetensors files), a folder models--ORG--NAME in the cache of Hugging Face, or a model for pictures. Default name: that of the folder, or of the file without .gguf. May be repeated."`
	Demand  bool          `name:"on-demand" help:"Load each model when the first request for it arrives, and not at the start."`
	Keep    time.Duration `name:"keep-alive" default:"0s" placeholder:"TIME" help:"Unload each model that has had no request for this time, and free its memory. The next request loads the model again. Default: 0, models stay loaded."`
	Context int           `placeholder:"N" help:"The largest number of tokens of a conversation, at most that of the model. Default: that of the model, at most 8192."`
	cacheFlag
	Adapter []string `sep:"none" placeholder:"[[MODEL:]NAME=]DIR" help:"A LoRA adapter for a model: a folder that finetune or the Python package PEFT wrote. A request chooses the adapter with the adapter's NAME instead of the name of the model. An adapter without a name applies to all requests. If there are several models, give both MODEL and NAME. May be repeated."`
	draftFlags
	poolingFlag
	Listen   string        `default:"localhost:8080" placeholder:"ADDRESS" help:"The address to listen on. :8080 means all addresses, and needs -key or -key-file. Default: localhost:8080, to which only this machine can connect."`
	Name     string        `placeholder:"NAME" help:"The name of the only model in requests, as in -model NAME=PATH."`
	AnyName  bool          `name:"any-name" help:"Answer every request with the only model, whatever name the request gives, as llama-server does."`
	Key      []string      `sep:"none" env:"GOPHERWARP_API_KEY" placeholder:"KEY" help:"An API key that clients must send. May be repeated. Other users of the machine can see arguments, so the environment variable GOPHERWARP_API_KEY is safer."`
	KeyFile  string        `placeholder:"FILE" help:"A file with API keys, one on each line. Empty lines and lines that begin with # are ignored."`
	TLSCert  string        `name:"tls-cert" placeholder:"FILE" help:"A PEM file with the certificate of the server, followed by those of its issuers. Needs -tls-key."`
	TLSKey   string        `name:"tls-key" placeholder:"FILE" help:"A PEM file with the private key of the certificate."`
	Parallel int           `placeholder:"N" help:"The largest number of texts that each model generates at once. Default: 8 on a CPU, 64 on a GPU."`
	Requests int           `default:"256" placeholder:"N" help:"The largest number of requests that run or wait. Further requests are refused with status 429. Default: 256."`
	Queue    int           `name:"queue-tokens" default:"1000000" placeholder:"N" help:"The largest number of tokens of all waiting prompts together. Requests beyond this limit are refused with status 429. 0 means no limit. Default: 1000000."`
	Repeat   bool          `name:"deterministic" help:"Make each answer independent of other requests. Answers then take longer."`
	Timeout  time.Duration `default:"10m" placeholder:"TIME" help:"How long a request may take, including its wait. 0 means no limit. Default: 10m."`
	Sockets  int           `name:"connections" default:"16384" placeholder:"N" help:"The largest number of connections. Further connections wait; connections without a request are closed to make room for them. Default: 16384."`
	Delay    time.Duration `default:"0s" placeholder:"TIME" help:"How long a request for vectors, scores or classes waits for others while the device is idle, to be computed together with them. Default: 0."`
	Labels   string        `placeholder:"FILE" help:"A file with the names of the classes of the only model for pictures, one on each line. Default: labels.txt in the folder of each model, or numbers instead of names."`
	Wait     time.Duration `name:"shutdown-delay" default:"0s" placeholder:"TIME" help:"How long the server still accepts requests after an interrupt or SIGTERM. In this time, /health has status 503, so that a load balancer notices that the server ends. Default: 0."`
	Drain    time.Duration `default:"30s" placeholder:"TIME" help:"How long answers in progress may still take after -shutdown-delay. Default: 30s."`
	mapping
	Profiles string `name:"pprof" placeholder:"ADDRESS" help:"Serve Go's profiles of the server at /debug/pprof/ on this address, such as localhost:6060. Only this machine can connect."`
	Log      string `enum:"off,text,json" default:"off" help:"Write a line about each request to standard error: text, json or off. The line has no contents of requests and answers."`
}

// Help is the text after the flags.
func (serveCommand) Help() string {
	return `Serves language models with the protocols of OpenAI (/v1/chat/completions, /v1/completions, /v1/responses and /v1/models),
Anthropic (/v1/messages) and llama-server (/completion and others). The path / is a page for chats with the model. Without
a language model, it is a page about models and GPUs. /health reports whether the model can
answer, and /metrics has metrics for Prometheus under vLLM's names.

An embedding model, or a language model with -pooling, is served at /v1/embeddings, and a cross-encoder at /v1/rerank and
/rerank, with metrics under the names of Text Embeddings Inference. A model for pictures is served at /classify. Embedding
models and models for pictures are also served at /v2, in the protocol of KServe and Triton, with metrics under Triton's
names.

If OTEL_EXPORTER_OTLP_ENDPOINT is set, the server sends traces of OpenTelemetry to that collector.

If there are several models, each request names its model. With -on-demand and -keep-alive, models are loaded when a request
needs them, and unloaded when they are not used.

Example:
  gopherwarp serve -model SmolLM2-135M-Instruct.Q4_1.gguf &
  curl -s localhost:8080/v1/chat/completions -d '{"messages": [{"role": "user", "content": "Why is the sky blue?"}]}'
  gopherwarp serve -model SmolLM2-135M-Instruct.Q4_1.gguf -adapter legal=adapters/legal -adapter poems=adapters/poems
  gopherwarp serve -on-demand -keep-alive 10m -model small=SmolLM2-135M-Instruct.Q4_1.gguf -model large=models/llama
  gopherwarp serve -model models/all_minilm_l6_v2 -listen localhost:8081 &
  curl -s localhost:8081/v1/embeddings -d '{"input": "A man plays the guitar."}'
  gopherwarp serve -model ms-marco-MiniLM-L-6-v2 -listen localhost:8083 &
  curl -s localhost:8083/v1/rerank -d '{"query": "Who wrote Faust?", "documents": ["Goethe.", "A fist."]}'
  gopherwarp serve -model models/efficientnet_lite0 -listen localhost:8082 &
  curl -s localhost:8082/classify --data-binary @flower.jpg`
}

// Run runs the command. With -log json, all lines on standard error are in JSON, also that of an error.
func (c *serveCommand) Run(ctx context.Context, t terminal) error {
	if c.Log != "json" {
		return c.start(ctx, t)
	}
	to := notices(t.err)
	defer to.take()()
	t.err = to
	if n := code(c.start(ctx, t), t); n != exitOK {
		return exit{code: n}
	}
	return nil
}

// start loads and serves models until ctx is done.
func (c *serveCommand) start(ctx context.Context, t terminal) error {
	if err := c.check(); err != nil {
		return err
	}
	list, err := c.served()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	defer exitAtSecond(ctx)()
	listener, err := net.Listen("tcp", c.Listen) // before a model is loaded, which takes time
	if err != nil {
		return err
	}
	secure, err := c.secure()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	end, err := c.profile(ctx, t)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return errors.Join(c.run(ctx, t, list, socket{listener, secure}), end())
}

// exitAtSecond makes the next interrupt or SIGTERM after the end of ctx end the process at once, until stop is called. This also works for a process
// that has been started with ignored interrupts, as scripts start processes in the background.
func exitAtSecond(ctx context.Context) (stop func()) {
	ended := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(again)
		select {
		case <-ended:
		case <-again:
			select {
			case <-ended: // before the signal
			default:
				os.Exit(exitFailed)
			}
		}
	})
	return func() {
		cancel()
		close(ended)
	}
}

// run loads and serves models. It closes the listener.
func (c *serveCommand) run(ctx context.Context, t terminal, list []served, l socket) error {
	s, err := c.newServer(t, list)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if err := s.preload(ctx); err != nil || ctx.Err() != nil {
		return errors.Join(err, l.Close(), s.close())
	}
	return errors.Join(s.serve(ctx, l), s.close())
}

// check returns the error of flags that make no sense.
func (c *serveCommand) check() error {
	if c.Requests < 1 || c.Sockets < 1 {
		return exit{exitUsage, errors.New("-requests and -connections must be positive")}
	}
	if c.Context < 0 || c.Drain < 0 || c.Parallel < 0 || c.Timeout < 0 || c.Queue < 0 || c.Delay < 0 || c.Keep < 0 || c.Wait < 0 {
		return exit{exitUsage, errors.New("-context, -keep-alive, -queue-tokens, -delay, -shutdown-delay, -drain, -parallel and -timeout must not be negative")}
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return exit{exitUsage, errors.New("-tls-cert and -tls-key need each other")}
	}
	if err := errors.Join(c.draftFlags.check(), c.readKeys()); err != nil {
		return err
	}
	local, err := isLocal(c.Listen)
	if err != nil {
		return exit{exitUsage, fmt.Errorf("-listen: %w", err)}
	}
	if !local && len(c.Key) == 0 {
		return exit{exitUsage, fmt.Errorf("-listen=%s lets other machines connect, which needs -key or -key-file", c.Listen)}
	}
	if c.Profiles == "" {
		return nil
	}
	if local, err = isLocal(c.Profiles); err != nil || !local {
		return exit{exitUsage, fmt.Errorf("-pprof=%s is not an address to which only this machine can connect, such as localhost:6060", c.Profiles)}
	}
	return nil
}

// isLocal reports whether only this machine can connect to an address.
func isLocal(address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback(), err
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
