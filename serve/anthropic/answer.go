package anthropic

import (
	"crypto/rand"
	"encoding/json"
	"net/http"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// answer is a message of the model.
type answer struct {
	ID      string  `json:"id"`
	Type    string  `json:"type"`
	Role    string  `json:"role"`
	Model   string  `json:"model"`
	Content []any   `json:"content"` // textBlock and callBlock
	Reason  *string `json:"stop_reason"`
	Stop    *string `json:"stop_sequence"`
	Usage   usage   `json:"usage"`
}

// textBlock is a text in a message.
type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// callBlock is a call in a message.
type callBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// usage counts tokens.
type usage struct {
	Input   int `json:"input_tokens"` // without those that the cache had
	Created int `json:"cache_creation_input_tokens"`
	Known   int `json:"cache_read_input_tokens"`
	Output  int `json:"output_tokens"`
}

func usageOf(u llm.Usage) usage {
	return usage{Input: u.Prompt - u.Known, Known: u.Known, Output: u.Generated}
}

// messages answers a conversation.
func (h *Handler) messages(w http.ResponseWriter, r *http.Request) error {
	var body request
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	name, m, err := h.Find(r.Context(), body.Model)
	if err != nil {
		return err
	}
	q, err := body.question(m)
	if err != nil {
		return err
	}
	g, err := body.generation()
	if err == nil && q.Forced {
		err = h.Force(&g, "tool_choice", q.Functions)
	}
	if err != nil {
		return err
	}
	var took llm.Usage
	g.Usage = &took
	a := answer{ID: "msg_" + rand.Text(), Type: "message", Role: "assistant", Model: name, Content: []any{}}
	if body.Stream {
		s := stream{answer: a, events: h.NewEvents(w), took: &took}
		return s.run(q.Answer(r.Context(), g))
	}
	for part, err := range q.Answer(r.Context(), g) {
		if err != nil {
			return err
		}
		a.add(part)
	}
	a.complete()
	a.Usage = usageOf(took)
	return gate.WriteJSON(w, a)
}

// add adds a part.
func (a *answer) add(part gate.Part) {
	if part.Finish != llm.Unfinished {
		a.finish(part)
		return
	}
	var last any
	if n := len(a.Content); n > 0 {
		last = a.Content[n-1]
	}
	switch b := last.(type) {
	case *textBlock:
		if part.Call == 0 {
			b.Text += part.Text
			return
		}
	case *callBlock:
		if part.Call > 0 && part.Name == "" {
			b.Input = append(b.Input, part.Arguments...)
			return
		}
	}
	switch {
	case part.Call > 0:
		a.Content = append(a.Content, &callBlock{Type: "tool_use", ID: part.ID, Name: part.Name, Input: json.RawMessage(part.Arguments)})
	case part.Text != "":
		a.Content = append(a.Content, &textBlock{Type: "text", Text: part.Text})
	}
}

// finish sets why the answer ended.
func (a *answer) finish(part gate.Part) {
	reason := "end_turn"
	switch {
	case part.Finish.String() == "length":
		reason = "max_tokens"
	case part.Finish == llm.Stopped:
		reason, a.Stop = "stop_sequence", &part.Stop
	case part.Called:
		reason = "tool_use"
	}
	a.Reason = &reason
}

// complete makes JSON of the arguments of calls that are none, because the model made a mistake or ended early.
func (a *answer) complete() {
	for _, b := range a.Content {
		if c, ok := b.(*callBlock); ok && !json.Valid(c.Input) {
			text, err := json.Marshal(map[string]string{"INVALID_JSON": string(c.Input)})
			if err == nil { // strings can always be encoded
				c.Input = text
			}
		}
	}
}

// count answers with the number of tokens of a conversation.
func (h *Handler) count(w http.ResponseWriter, r *http.Request) error {
	var body request
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	_, m, err := h.Find(r.Context(), body.Model)
	if err != nil {
		return err
	}
	q, err := body.question(m)
	if err != nil {
		return err
	}
	ids, err := q.Tokens(r.Context(), llm.Request{})
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]int{"input_tokens": len(ids)})
}
