package openai

import (
	"iter"
	"net/http"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// completionRequest is the body of a request for the continuation of a text.
type completionRequest struct {
	common
	Prompt   gate.Texts `json:"prompt"`
	Logprobs *int       `json:"logprobs"`
	Echo     bool       `json:"echo"`
	Suffix   string
}

// complete continues a text.
func (h *Handler) complete(w http.ResponseWriter, r *http.Request) error {
	var body completionRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	name, m, err := h.Find(body.Model)
	if err != nil {
		return err
	}
	switch {
	case len(body.Prompt) != 1:
		return gate.Invalid("prompt", "%d texts, want one", len(body.Prompt))
	case body.Logprobs != nil && *body.Logprobs > 0:
		return gate.Unsupported("logprobs")
	case body.Suffix != "":
		return gate.Unsupported("suffix")
	}
	if body.MaxTokens == nil {
		usual := 16 // as the protocol says
		body.MaxTokens = &usual
	}
	request, err := body.request()
	if err != nil {
		return err
	}
	a := h.newAnswer(w, name, &body.common)
	if body.Echo {
		a.echo = body.Prompt[0]
	}
	request.User = gate.UserOf(r.Context())
	return a.run(request, func(q llm.Request) iter.Seq2[gate.Part, error] {
		return continuation(m.Generate(r.Context(), body.Prompt[0], q))
	})
}

// continuation returns tokens as parts.
func continuation(tokens iter.Seq2[llm.Token, error]) iter.Seq2[gate.Part, error] {
	return func(yield func(gate.Part, error) bool) {
		for t, err := range tokens {
			if !yield(gate.Part{Part: chat.Part{Text: t.Text}, Choice: t.Choice}, err) || err != nil {
				return
			}
			if t.Finish != llm.Unfinished && !yield(gate.Part{Choice: t.Choice, Finish: t.Finish}, nil) {
				return
			}
		}
	}
}
