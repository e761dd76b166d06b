package openai

import (
	"net/http"
	"slices"

	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// modelInfo describes a model.
type modelInfo struct {
	ID      string  `json:"id"`
	Object  string  `json:"object"`
	Created int64   `json:"created"`
	Owner   string  `json:"owned_by"`
	Parent  string  `json:"parent,omitempty"` // the model of an adapter, as in vLLM
	Status  *status `json:"status,omitempty"` // of a model that can be loaded and unloaded

	// Capabilities are what the model can do, under the names of llama-server and Ollama: completion, embedding or rerank. A model that
	// classifies pictures has none.
	Capabilities []string `json:"capabilities"`
}

// status is the state of a model in the form of llama-server.
type status struct {
	Value  string `json:"value"` // unloaded, loading, loaded or unloading
	Failed bool   `json:"failed,omitempty"`
	Error  string `json:"error,omitempty"` // of the last load, if it failed
}

// statusOf returns the state of a model.
func statusOf(s repository.Status) *status {
	switch s.State {
	case repository.Ready:
		return &status{Value: "loaded"}
	case repository.Failed:
		return &status{Value: repository.Unloaded.String(), Failed: true, Error: s.Err.Error()}
	}
	return &status{Value: s.State.String()}
}

// info describes a model.
func (h *Handler) info(name string) modelInfo {
	m := modelInfo{ID: name, Object: "model", Created: h.started.Unix(), Owner: "gopherwarp", Parent: h.Adapters[name]}
	if h.Repository != nil {
		m.Status = statusOf(h.Status(name))
	}
	_, embeds := h.embedders[name]
	_, ranks := h.rerankers[name]
	switch {
	case embeds:
		m.Capabilities = []string{"embedding"}
	case ranks:
		m.Capabilities = []string{"rerank"}
	case slices.Contains(h.Others, name):
		m.Capabilities = []string{}
	default:
		m.Capabilities = []string{"completion"}
	}
	return m
}

// models lists the models.
func (h *Handler) models(w http.ResponseWriter, _ *http.Request) error {
	list := make([]modelInfo, len(h.names))
	for i, name := range h.names {
		list[i] = h.info(name)
	}
	return gate.WriteJSON(w, map[string]any{"object": "list", "data": list})
}

// model describes a model.
func (h *Handler) model(w http.ResponseWriter, r *http.Request) error {
	name, err := h.Resolve(r.PathValue("name"))
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, h.info(name))
}
