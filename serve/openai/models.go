package openai

import (
	"encoding/json"
	"net/http"
)

// modelInfo describes a model.
type modelInfo struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Owner   string `json:"owned_by"`
}

func (h *Handler) info(name string) modelInfo {
	return modelInfo{ID: name, Object: "model", Created: h.started.Unix(), Owner: "gopherwarp"}
}

// models lists the models.
func (h *Handler) models(w http.ResponseWriter, _ *http.Request) error {
	list := make([]modelInfo, len(h.names))
	for i, name := range h.names {
		list[i] = h.info(name)
	}
	return writeJSON(w, map[string]any{"object": "list", "data": list})
}

// model describes a model.
func (h *Handler) model(w http.ResponseWriter, r *http.Request) error {
	name, _, err := h.find(r.PathValue("name"))
	if err != nil {
		return err
	}
	return writeJSON(w, h.info(name))
}

// writeJSON answers a request.
func writeJSON(w http.ResponseWriter, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // a client that has left learns nothing
	return nil
}
