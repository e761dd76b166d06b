package llamacpp

import (
	"cmp"
	"context"
	"net/http"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// described returns the model that the query of a request names, or the only model. A request that describes a model does not load it.
func (h *Handler) described(r *http.Request) (string, gate.Tokenized, error) {
	name, found, err := h.Peek(r.Context(), r.URL.Query().Get("model"))
	if err != nil {
		return "", nil, err
	}
	m, err := gate.TokenizedOf(found)
	return name, m, err
}

// props describes a model.
func (h *Handler) props(w http.ResponseWriter, r *http.Request) error {
	name, m, err := h.described(r)
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]any{
		"default_generation_settings": map[string]any{"n_ctx": m.Context(), "params": settings(usual, -1)},
		"total_slots":                 h.Slots, "model_path": h.Paths[cmp.Or(h.Adapters[name], name)], "model_alias": name, "build_info": "gopherwarp", "modalities": map[string]bool{"vision": false, "audio": false},
	})
}

// slots lists the texts that a model can generate at once. As many of them as there are texts are processing; they are not told apart.
func (h *Handler) slots(w http.ResponseWriter, r *http.Request) error {
	_, m, err := h.described(r)
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

// change returns a handler that loads or unloads the model of a request.
func (h *Handler) change(f func(ctx context.Context, name string) error) gate.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		var body struct {
			Model string `json:"model"`
		}
		if err := h.Read(w, r, &body); err != nil {
			return err
		}
		if err := f(r.Context(), body.Model); err != nil {
			return err
		}
		return gate.WriteJSON(w, map[string]bool{"success": true})
	}
}

// adapters lists the adapters of a model. They have the scale 0: a request that chooses none uses none.
func (h *Handler) adapters(w http.ResponseWriter, r *http.Request) error {
	name, err := h.Resolve(r.URL.Query().Get("model"))
	if err != nil {
		return err
	}
	type adapter struct {
		gate.Scaled
		Path string `json:"path"`
	}
	list := []adapter{}
	for i, name := range h.AdaptersOf(name) {
		list = append(list, adapter{gate.Scaled{ID: i}, name})
	}
	return gate.WriteJSON(w, list)
}

// scale changes the scales of adapters for all requests. Only 0 is supported, which they have.
func (h *Handler) scale(w http.ResponseWriter, r *http.Request) error {
	var list []gate.Scaled
	if err := h.Read(w, r, &list); err != nil {
		return err
	}
	name, err := h.Resolve(r.URL.Query().Get("model"))
	if err != nil {
		return err
	}
	chosen, err := gate.Chosen(list, h.AdaptersOf(name))
	if err == nil && chosen != "" {
		err = gate.Unsupported("scale")
	}
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]bool{"success": true})
}

// find returns the model of a request with the field lora.
func (h *Handler) find(ctx context.Context, model string, list []gate.Scaled) (string, gate.Tokenized, error) {
	name, m, err := h.FindScaled(ctx, model, list)
	if err != nil {
		return "", nil, err
	}
	t, err := gate.TokenizedOf(m)
	return name, t, err
}

// templateRequest is the body of a request for the prompt of a conversation.
type templateRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		chat.Message
		Content *string // in place of that of the Message
	} `json:"messages"`
	Variables gate.Variables `json:"chat_template_kwargs"`
}

// conversation returns the messages, of which only those of the assistant may have no content.
func (b *templateRequest) conversation() (list []chat.Message, err error) {
	for i, m := range b.Messages {
		switch {
		case m.Content != nil:
			m.Message.Content = *m.Content
		case m.Role != "assistant":
			return nil, gate.NoContent("messages", i)
		}
		list = append(list, m.Message)
	}
	return list, nil
}

// template answers with the prompt of a conversation.
func (h *Handler) template(w http.ResponseWriter, r *http.Request) error {
	var body templateRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	messages, err := body.conversation()
	if err != nil {
		return err
	}
	_, found, err := h.Find(r.Context(), body.Model)
	if err != nil {
		return err
	}
	m, err := gate.TokenizedOf(found)
	if err != nil {
		return err
	}
	text, err := m.Prompt(messages, chat.Options{Variables: body.Variables.Values(), Interrupt: r.Context().Err})
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]string{"prompt": text})
}
