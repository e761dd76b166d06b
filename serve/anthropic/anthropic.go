package anthropic

import (
	"encoding/json"
	"net/http"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// A Handler is an http.Handler that serves models. It is safe for concurrent use.
type Handler struct {
	*gate.Gate
	mux http.ServeMux
}

// Handle returns a Handler for the models of a gate. Other protocols may use the same gate.
func Handle(g *gate.Gate) *Handler {
	h := &Handler{Gate: g}
	h.mux.HandleFunc("POST /v1/messages", h.Guard(h.Limit(h.messages), write))
	h.mux.HandleFunc("POST /v1/messages/count_tokens", h.Guard(h.LimitBrief(h.count), write))
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		write(w, gate.NoHandler(w, &h.mux, r))
	})
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// problem is the protocol's form of an error.
type problem struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// kinds are the types of errors by the status of HTTP. All others are invalid requests.
var kinds = map[int]string{
	http.StatusUnauthorized: "authentication_error", http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests: "rate_limit_error", http.StatusInternalServerError: "api_error", http.StatusServiceUnavailable: "overloaded_error",
	http.StatusGatewayTimeout: "timeout_error",
}

// problemOf returns a failure in the form of the protocol.
func problemOf(f gate.Failure) problem {
	p := problem{Type: "error"}
	p.Error.Type, p.Error.Message = "invalid_request_error", f.Message
	if kind, ok := kinds[f.Status]; ok {
		p.Error.Type = kind
	}
	return p
}

// write answers a request. A client that has left learns nothing, so errors of writing are ignored.
func write(w http.ResponseWriter, f gate.Failure) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(problemOf(f))
}
