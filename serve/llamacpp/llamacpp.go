package llamacpp

import (
	"encoding/json"
	"net/http"

	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// Options are the facts about the server that /props and /slots return.
type Options struct {
	Paths map[string]string // the files or folders of the models, by name
	Slots int               // the number of texts that each model generates at once
}

// A Handler is an http.Handler that serves models. It is safe for concurrent use.
type Handler struct {
	*gate.Gate
	Options
	mux      http.ServeMux
	grammars grammar.Cache
}

// A Reporter is a Model that reports its state. *llm.Model is a Reporter.
type Reporter interface {
	gate.Model
	Stats() llm.Stats
}

// Handle returns a Handler for the models of a gate. Requests for paths that the Handler does not serve itself go to next, which serves OpenAI's API.
func Handle(g *gate.Gate, next http.Handler, o Options) *Handler {
	h := &Handler{Gate: g, Options: o}
	for _, path := range []string{"/completion", "/completions"} {
		h.mux.HandleFunc("POST "+path, h.guard(h.Limit(h.complete)))
	}
	h.mux.HandleFunc("POST /apply-template", h.guard(h.LimitBrief(h.template)))
	h.mux.HandleFunc("GET /props", h.guard(h.props))
	h.mux.HandleFunc("GET /slots", h.guard(h.slots))
	h.mux.HandleFunc("GET /lora-adapters", h.guard(h.adapters))
	h.mux.HandleFunc("POST /lora-adapters", h.guard(h.LimitBrief(h.scale)))
	h.mux.HandleFunc("POST /models/load", h.guard(h.Limit(h.change(g.Load))))
	h.mux.HandleFunc("POST /models/unload", h.guard(h.Limit(h.change(g.Unload))))
	for _, path := range []string{"POST /chat/completions", "POST /chat/completions/input_tokens", "POST /embeddings", "GET /models", "POST /responses"} {
		h.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			to := r.Clone(gate.WithFailures(r.Context(), write))
			to.URL.Path = "/v1" + r.URL.Path
			next.ServeHTTP(w, to)
		})
	}
	h.mux.Handle("/", gate.Otherwise(&h.mux, next, write))
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// guard admits clients with a key, and writes the error of next.
func (h *Handler) guard(next gate.Handler) http.HandlerFunc { return h.Guard(next, write) }

// kinds are the types of errors by the status of HTTP. All others are invalid requests.
var kinds = map[int]string{
	http.StatusUnauthorized: "authentication_error", http.StatusNotFound: "not_found_error", http.StatusNotImplemented: "not_supported_error",
	http.StatusInternalServerError: "server_error", http.StatusServiceUnavailable: "unavailable_error", http.StatusGatewayTimeout: "server_error",
	http.StatusTooManyRequests: "unavailable_error",
}

// problem is llama-server's form of an error.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Tokens  int    `json:"n_prompt_tokens,omitempty"` // of a prompt that fills the context
	Context int    `json:"n_ctx,omitempty"`           // tokens
}

// problemOf returns a failure in the form of the protocol.
func problemOf(f gate.Failure) map[string]problem {
	p := problem{Code: f.Status, Message: f.Message, Type: "invalid_request_error"}
	if kind, ok := kinds[f.Status]; ok {
		p.Type = kind
	}
	if f.Long != (llm.ContextError{}) {
		p.Type, p.Tokens, p.Context = "exceed_context_size_error", f.Long.Tokens, f.Long.Context
	}
	return map[string]problem{"error": p}
}

// write answers a request. A client that has left learns nothing, so errors of writing are ignored.
func write(w http.ResponseWriter, f gate.Failure) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(problemOf(f))
}
