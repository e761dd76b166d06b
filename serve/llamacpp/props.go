package llamacpp

import (
	"cmp"
	"net/http"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// only returns the only model.
func (h *Handler) only() (string, gate.Tokenized, error) {
	name, found, err := h.Find("")
	if err != nil {
		return "", nil, err
	}
	m, err := gate.TokenizedOf(found)
	return name, m, err
}

// props describes the server.
func (h *Handler) props(w http.ResponseWriter, _ *http.Request) error {
	name, m, err := h.only()
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]any{
		"default_generation_settings": map[string]any{"n_ctx": m.Context(), "params": settings(usual)},
		"total_slots":                 h.Slots, "model_path": h.Path, "model_alias": name, "build_info": "gopherwarp", "modalities": map[string]bool{"vision": false, "audio": false},
	})
}

// slots lists the texts that can be generated at once. As many of them as there are texts are processing; they are not told apart.
func (h *Handler) slots(w http.ResponseWriter, _ *http.Request) error {
	_, m, err := h.only()
	if err != nil {
		return err
	}
	var s llm.Stats
	if r, ok := m.(Reporter); ok {
		s = r.Stats()
	}
	type slot struct {
		ID         int  `json:"id"`
		Context    int  `json:"n_ctx"`
		Processing bool `json:"is_processing"`
	}
	list := make([]slot, h.Slots)
	for i := range list {
		list[i] = slot{i, m.Context(), i < s.Running}
	}
	return gate.WriteJSON(w, list)
}

// adapters lists the adapters of the only model. They have the scale 0: a request that chooses none uses none.
func (h *Handler) adapters(w http.ResponseWriter, _ *http.Request) error {
	name, _, err := h.only()
	if err != nil {
		return err
	}
	type adapter struct {
		scaled
		Path string `json:"path"`
	}
	list := []adapter{}
	for i, name := range h.AdaptersOf(name) {
		list = append(list, adapter{scaled{ID: i}, name})
	}
	return gate.WriteJSON(w, list)
}

// scale changes the scales of adapters for all requests. Only 0 is supported, which they have.
func (h *Handler) scale(w http.ResponseWriter, r *http.Request) error {
	var list []scaled
	if err := h.Read(w, r, &list); err != nil {
		return err
	}
	name, _, err := h.only()
	if err != nil {
		return err
	}
	chosen, err := chosenOf(list, h.AdaptersOf(name))
	if err == nil && chosen != "" {
		err = gate.Unsupported("scale")
	}
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]bool{"success": true})
}

// scaled is an adapter by its number in the order of names, and the factor of what it adds.
type scaled struct {
	ID    int     `json:"id"`
	Scale float64 `json:"scale"`
}

// chosenOf returns the name of the adapter with the scale 1, or "" if there is none. The error is a Failure.
func chosenOf(list []scaled, names []string) (chosen string, err error) {
	for _, s := range list {
		switch {
		case s.ID < 0 || s.ID >= len(names):
			return "", gate.Invalid("id", "there is no adapter %d", s.ID)
		case s.Scale == 0:
		case s.Scale != 1 || chosen != "":
			return "", gate.Invalid("lora", "a scale other than 0 and 1, or more than one adapter, is not supported")
		default:
			chosen = names[s.ID]
		}
	}
	return chosen, nil
}

// find returns the model of a request. Its list of adapters, unless it is empty, counts more than the name of one.
func (h *Handler) find(model string, list []scaled) (string, gate.Tokenized, error) {
	name, m, err := h.Find(model)
	if err == nil && len(list) > 0 {
		if of, ok := h.Adapters[name]; ok {
			name = of
		}
		chosen, wrong := chosenOf(list, h.AdaptersOf(name))
		if wrong != nil {
			return "", nil, wrong
		}
		name, m, err = h.Find(cmp.Or(chosen, name))
	}
	if err != nil {
		return "", nil, err
	}
	t, err := gate.TokenizedOf(m)
	return name, t, err
}

// templateRequest is the body of a request for the prompt of a conversation.
type templateRequest struct {
	Model     string         `json:"model"`
	Messages  []chat.Message `json:"messages"`
	Variables map[string]any `json:"chat_template_kwargs"`
}

// template answers with the prompt of a conversation.
func (h *Handler) template(w http.ResponseWriter, r *http.Request) error {
	var body templateRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	_, found, err := h.Find(body.Model)
	if err != nil {
		return err
	}
	m, err := gate.TokenizedOf(found)
	if err != nil {
		return err
	}
	text, err := m.Prompt(body.Messages, chat.Options{Variables: body.Variables})
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]string{"prompt": text})
}
