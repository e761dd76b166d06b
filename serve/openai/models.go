package openai

import (
	"net/http"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// modelInfo describes a model.
type modelInfo struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Owner   string `json:"owned_by"`
	Parent  string `json:"parent,omitempty"` // the model of an adapter, as in vLLM
}

func (h *Handler) info(name string) modelInfo {
	return modelInfo{ID: name, Object: "model", Created: h.started.Unix(), Owner: "gopherwarp", Parent: h.Adapters[name]}
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
