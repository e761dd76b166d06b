package openai

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
)

// A Model generates text. It may be used by several goroutines. *llm.Model is one.
type Model interface {
	Chat(ctx context.Context, messages []chat.Message, r llm.Request) iter.Seq2[llm.Token, error]
	Generate(ctx context.Context, prompt string, r llm.Request) iter.Seq2[llm.Token, error]
}

// ErrOptions is the error of Options that New refuses.
var ErrOptions = errors.New("openai: invalid options")

// Options are what a Handler serves, and its limits.
type Options struct {
	// Models are the models by their names in requests. A request without a name means the only model.
	Models map[string]Model
	// Keys are the API keys that clients may use. Without any, all requests are allowed.
	Keys []string
	// Requests limits the requests that run or wait; others are refused with status 429. 0 means 64.
	Requests int
	// Body limits the bytes of a request. 0 means 8 MiB.
	Body int64
	// ClientTimeout limits the time that a client may take to send a request, and to receive each part of an answer. 0 means 30 seconds.
	ClientTimeout time.Duration
}

// A Handler is an http.Handler that serves models. It is safe for concurrent use.
type Handler struct {
	Options
	mux     http.ServeMux
	names   []string
	keys    [][sha256.Size]byte
	running chan struct{} // has an element for each request that runs or waits
	started time.Time
}

// New returns a Handler. The error wraps ErrOptions.
func New(o Options) (*Handler, error) {
	if len(o.Models) == 0 {
		return nil, fmt.Errorf("%w: no models", ErrOptions)
	}
	if o.Requests < 0 || o.Body < 0 || o.ClientTimeout < 0 {
		return nil, fmt.Errorf("%w: negative limits", ErrOptions)
	}
	if o.Requests == 0 {
		o.Requests = 64
	}
	if o.Body == 0 {
		o.Body = 8 << 20
	}
	if o.ClientTimeout == 0 {
		o.ClientTimeout = 30 * time.Second
	}
	h := &Handler{Options: o, running: make(chan struct{}, o.Requests), started: time.Now()}
	for name := range o.Models {
		h.names = append(h.names, name)
	}
	slices.Sort(h.names)
	for _, key := range o.Keys {
		if key == "" {
			return nil, fmt.Errorf("%w: an empty key", ErrOptions)
		}
		h.keys = append(h.keys, sha256.Sum256([]byte(key)))
	}
	h.route()
	return h, nil
}

// route registers the handlers.
func (h *Handler) route() {
	h.mux.HandleFunc("GET /health", h.health)
	h.mux.Handle("GET /metrics", h.metrics())
	h.mux.HandleFunc("GET /v1/models", h.guard(h.models))
	h.mux.HandleFunc("GET /v1/models/{name...}", h.guard(h.model))
	h.mux.HandleFunc("POST /v1/chat/completions", h.guard(h.limited(h.chat)))
	h.mux.HandleFunc("POST /v1/completions", h.guard(h.limited(h.complete)))
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		failure{status: http.StatusNotFound, message: fmt.Sprintf("there is no %s %s", r.Method, r.URL.Path)}.write(w)
	})
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// handler is a handler that returns its mistake.
type handler func(w http.ResponseWriter, r *http.Request) error

// guard admits clients with a key, and writes the error of next.
func (h *Handler) guard(next handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := error(failure{status: http.StatusUnauthorized, code: "invalid_api_key", message: "the request needs an API key: Authorization: Bearer KEY"})
		if h.admits(r.Header.Get("Authorization")) {
			err = next(w, r)
		}
		if _, left := errors.AsType[gone](err); err == nil || left {
			return
		}
		failureOf(err).write(w)
	}
}

// admits reports whether a header has one of the keys.
func (h *Handler) admits(header string) bool {
	sum := sha256.Sum256([]byte(strings.TrimPrefix(header, "Bearer ")))
	same := 0
	for _, key := range h.keys { // all of them, so that the time does not depend on which is right
		same |= subtle.ConstantTimeCompare(key[:], sum[:])
	}
	return same == 1 || len(h.keys) == 0
}

// limited refuses requests beyond the limit.
func (h *Handler) limited(next handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		select {
		case h.running <- struct{}{}:
			defer func() { <-h.running }()
			return next(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			return failure{status: http.StatusTooManyRequests, code: "rate_limit_exceeded", message: fmt.Sprintf("%d requests are running or waiting", h.Requests)}
		}
	}
}

// find returns a model and its name.
func (h *Handler) find(name string) (string, Model, error) {
	if name == "" && len(h.names) == 1 {
		name = h.names[0]
	}
	if m := h.Models[name]; m != nil {
		return name, m, nil
	}
	return "", nil, failure{
		status: http.StatusNotFound, param: "model", code: "model_not_found",
		message: fmt.Sprintf("there is no model %q; there is %s", name, strings.Join(h.names, ", ")),
	}
}
