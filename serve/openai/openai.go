package openai

import (
	"context"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// Model, Options and ErrOptions are those of package gate.
type (
	Model   = gate.Model
	Options = gate.Options
)

// queue is a model whose requests wait in a queue.
type queue interface {
	health(ctx context.Context) error
	measured() *workMetrics
	waiting() int
	close()
}

// ErrOptions is the error of New for invalid Options.
var ErrOptions = gate.ErrOptions

// A Handler is an http.Handler that serves models. It is safe for concurrent use.
type Handler struct {
	*gate.Gate
	mux        http.ServeMux
	names      []string
	embedders  map[string]embedder
	rerankers  map[string]reranker
	workers    map[string]queue // the embedders and rerankers
	others     []prometheus.Collector
	alsoHealth func(ctx context.Context) error // may be nil
	sockets    chan struct{}                   // has an element for each connection of WebSocket
	grammars   grammar.Cache                   // of formats of answers
	started    time.Time
	build      string // which program answers: "b" and the commit
}

// New returns a Handler for the models of o, with a new gate. The error wraps ErrOptions.
func New(o Options) (*Handler, error) {
	g, err := gate.New(o)
	if err != nil {
		return nil, err
	}
	return Handle(g), nil
}

// Handle returns a Handler for the models of a gate. Other protocols may use the same gate.
func Handle(g *gate.Gate) *Handler {
	h := newHandler(g)
	h.route()
	return h
}

// newHandler returns a Handler without routes.
func newHandler(g *gate.Gate) *Handler {
	return &Handler{
		Gate: g, names: g.Names(), embedders: map[string]embedder{}, rerankers: map[string]reranker{}, workers: map[string]queue{}, sockets: make(chan struct{}, g.Requests), started: time.Now(), build: buildOf(),
	}
}

// buildOf returns a name of the program's build.
func buildOf() string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return "b" + s.Value[:min(len(s.Value), 8)]
			}
		}
	}
	return "b0"
}

// route registers the handlers.
func (h *Handler) route() {
	h.mux.HandleFunc("GET /health", h.health)
	h.mux.Handle("GET /metrics", h.metrics())
	h.mux.HandleFunc("GET /v1/models", h.guard(h.models))
	h.mux.HandleFunc("GET /v1/models/{name...}", h.guard(h.model))
	h.mux.HandleFunc("POST /v1/chat/completions", h.guard(h.Limit(h.chat)))
	h.mux.HandleFunc("POST /v1/chat/completions/input_tokens", h.guard(h.LimitBrief(h.countTokens)))
	h.mux.HandleFunc("POST /v1/completions", h.guard(h.Limit(h.complete)))
	h.mux.HandleFunc("POST /v1/responses", h.guard(h.Limit(h.responses)))
	h.mux.HandleFunc("GET /v1/responses", h.guard(h.connect))
	h.mux.HandleFunc("POST /v1/responses/compact", h.guard(h.Limit(h.compact)))
	for _, path := range []string{"/v1/embeddings", "/embeddings"} { // the latter is a path of llama-server
		h.mux.HandleFunc("POST "+path, h.guard(h.Limit(h.embed)))
	}
	for _, path := range []string{"/v1/rerank", "/v2/rerank", "/v1/reranking", "/reranking"} { // the latter two are paths of llama-server
		h.mux.HandleFunc("POST "+path, h.guard(h.Limit(h.rerank)))
	}
	h.mux.HandleFunc("POST /rerank", h.Guard(h.Limit(h.rerank), writeRank))
	h.mux.HandleFunc("POST /tokenize", h.guard(h.LimitBrief(h.tokenize)))
	h.mux.HandleFunc("POST /detokenize", h.guard(h.LimitBrief(h.detokenize)))
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		write(w, gate.NoHandler(w, &h.mux, r))
	})
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// guard admits clients with a key, and writes the error of next.
func (h *Handler) guard(next gate.Handler) http.HandlerFunc { return h.Guard(next, write) }
