package llamacpp

import (
	"net/http"
	"strings"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// most is the largest number of prompts of a request.
const most = 128

// complete continues texts.
func (h *Handler) complete(w http.ResponseWriter, r *http.Request) error {
	var body request
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	name, m, err := h.find(r.Context(), body.Model, body.Adapters)
	if err != nil {
		return err
	}
	if n := len(body.Prompt.Prompts); n == 0 || n > most {
		return gate.Invalid("prompt", "%d texts, want 1 to %d", n, most)
	}
	g, err := body.generation(m, &h.grammars)
	if err != nil {
		return err
	}
	a := answer{Handler: h, body: &body, model: m, name: name, request: g, events: h.NewEvents(w), texts: make([]text, len(body.Prompt.Prompts)), each: make([]llm.Usage, len(body.Prompt.Prompts))}
	g.Usage, g.User, g.N = &a.took, gate.UserOf(r.Context()), 1
	gate.Narrow(&g, body.TopP) // the settings in the answer have the temperature of the request
	for t, err := range (gate.Continuer{Model: m, Prompts: body.Prompt.Prompts, Each: a.each}).Continue(r.Context(), g) {
		if err == nil {
			err = a.add(t)
		}
		if err != nil {
			return a.fail(err)
		}
	}
	return a.end(w)
}

// answer is the answer to a request for continuations.
type answer struct {
	*Handler
	body    *request
	model   gate.Tokenized
	name    string
	request llm.Request
	events  *gate.Events
	texts   []text
	took    llm.Usage   // of all texts
	each    []llm.Usage // of each text
}

// text is a continuation of a prompt.
type text struct {
	all    []byte
	tokens []int32
	logs   []tokenLog
	last   llm.Token
}

// add adds a token, and streams it.
func (a *answer) add(t llm.Token) error {
	x := &a.texts[t.Choice]
	if a.body.evaluates() {
		x.last = llm.Token{Finish: llm.Limited}
		return nil
	}
	p := part{Index: t.Choice, Content: t.Text, Tokens: []int32{t.ID}, IDSlot: -1, Predicted: len(x.tokens) + 1, Evaluated: a.took.Prompt}
	if t.Finish == llm.Ended {
		p.Tokens = []int32{}
	}
	x.all, x.tokens, x.last = append(x.all, t.Text...), append(x.tokens, p.Tokens...), t
	if t.Logprobs != nil && t.Finish != llm.Ended {
		p.Logs = []tokenLog{a.describe(t)}
		x.logs = append(x.logs, p.Logs...)
	}
	if !a.body.Stream || len(p.Tokens) == 0 && t.Text == "" {
		return nil
	}
	return a.events.Send("", p)
}

// fail returns an error that is the answer, or writes it as an event if a part of the stream has been written.
func (a *answer) fail(err error) error {
	if !gate.IsEvent(err, a.events) {
		return err
	}
	return a.events.Send("", problemOf(gate.FailureOf(err)))
}

// end writes the answer, or the last parts of the stream.
func (a *answer) end(w http.ResponseWriter) error {
	list := make([]any, len(a.texts))
	for i := range a.texts {
		whole, err := a.whole(i)
		if err != nil {
			return err
		}
		if list[i] = selected(whole, a.body.Fields); a.body.Stream {
			if err := a.events.Send("", list[i]); err != nil {
				return err
			}
		}
	}
	switch {
	case a.body.Stream:
		return nil
	case a.body.Prompt.many:
		return gate.WriteJSON(w, list)
	}
	return gate.WriteJSON(w, list[0])
}

// selected returns some fields of an object, or all if there are no names. A slash separates the names of nested objects.
func selected(from map[string]any, names []string) map[string]any {
	if len(names) == 0 {
		return from
	}
	to := map[string]any{}
	for _, name := range names {
		at := any(from)
		for key := range strings.SplitSeq(name, "/") {
			object, _ := at.(map[string]any)
			at = object[key]
		}
		if at != nil {
			to[name] = at
		}
	}
	return to
}
