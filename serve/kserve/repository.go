package kserve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// Extensions returns the names of the supported extensions of the protocol.
func (h *Handler) Extensions() []string {
	list := []string{"binary_tensor_data", "classification", "schedule_policy"}
	if h.Repository != nil {
		list = append(list, "model_repository")
	}
	return list
}

// ModelReady returns nil if a model is loaded and healthy. Otherwise, the error is a gate.Failure.
func (h *Handler) ModelReady(ctx context.Context, name, version string) error {
	m, err := h.Model(name, version)
	if err != nil {
		return err
	}
	if s := h.Status(name); s.State != repository.Ready {
		return gate.Failure{Status: http.StatusServiceUnavailable, Message: fmt.Sprintf("the model %q is %v", name, s.State)}
	}
	if err := m.Health(ctx); err != nil {
		return gate.Failure{Status: http.StatusServiceUnavailable, Message: err.Error()}
	}
	return nil
}

// Indexed describes a model of the server.
type Indexed struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	State   string `json:"state"`            // READY, LOADING, UNLOADING or UNAVAILABLE
	Reason  string `json:"reason,omitempty"` // why the model is unavailable
}

// Index describes the models of the server, including those that other protocols serve. If onlyReady is true, it
// describes only the models that are ready.
func (h *Handler) Index(onlyReady bool) []Indexed {
	list := []Indexed{}
	for _, name := range h.Names() {
		if _, isAdapter := h.Adapters[name]; isAdapter {
			continue
		}
		s := h.Status(name)
		if onlyReady && s.State != repository.Ready {
			continue
		}
		x := Indexed{Name: name, Version: Version, State: "UNAVAILABLE", Reason: s.State.String()}
		switch s.State {
		case repository.Ready:
			x.State, x.Reason = "READY", ""
		case repository.Loading:
			x.State, x.Reason = "LOADING", ""
		case repository.Unloading:
			x.State, x.Reason = "UNLOADING", ""
		case repository.Failed:
			x.Reason = s.Err.Error()
		}
		list = append(list, x)
	}
	return list
}

// indexRequest is the body of a request for the list of models.
type indexRequest struct {
	Ready bool `json:"ready"` // only those that are ready
}

// index describes the models.
func (h *Handler) index(w http.ResponseWriter, r *http.Request) error {
	var body indexRequest
	if err := h.readOptional(w, r, &body); err != nil {
		return err
	}
	return gate.WriteJSON(w, h.Index(body.Ready))
}

// readOptional reads a JSON object from a request's body, which may be empty.
func (h *Handler) readOptional(w http.ResponseWriter, r *http.Request, to any) error {
	data, err := h.ReadBytes(w, r)
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return err
	}
	return gate.Decode(data, to)
}

// load loads a model. A request that contains a configuration or files of the model is refused.
func (h *Handler) load(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Parameters map[string]json.RawMessage `json:"parameters"`
	}
	if err := h.readOptional(w, r, &body); err != nil {
		return err
	}
	if len(body.Parameters) > 0 {
		return gate.Unsupported("parameters")
	}
	return h.Load(r.Context(), r.PathValue("model"))
}

// unload unloads a model.
func (h *Handler) unload(_ http.ResponseWriter, r *http.Request) error {
	return h.Unload(r.Context(), r.PathValue("model"))
}
