package openai

import (
	"context"
	"iter"
	"net/http"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// completionRequest is the body of a request for the continuation of texts.
type completionRequest struct {
	common
	Prompt   gate.Prompts `json:"prompt"`
	Logprobs *int         `json:"logprobs"`
	BestOf   *int         `json:"best_of"`
	Echo     bool         `json:"echo"`
	Suffix   string
	restricted
}

// texts is the largest number of texts of a request.
const texts = 128

// check returns the error of fields that only continuations have.
func (b *completionRequest) check() error {
	best := b.count()
	if err := gate.Set(&best, "best_of", b.BestOf, gate.Between(b.count(), choices)); err != nil {
		return err
	}
	switch {
	case len(b.Prompt) == 0:
		return gate.Invalid("prompt", "there is none")
	case len(b.Prompt)*best > texts:
		return gate.Invalid("prompt", "%d texts with %d choices each, at most %d are allowed", len(b.Prompt), best, texts)
	case b.Suffix != "":
		return gate.Unsupported("suffix")
	case b.Stream && best > b.count():
		return gate.Invalid("best_of", "the best of several texts cannot be streamed")
	case b.Echo && b.Logprobs != nil:
		return gate.Invalid("echo", "the probabilities of prompts are not supported; leave out logprobs or echo")
	}
	return nil
}

// complete continues texts.
func (h *Handler) complete(w http.ResponseWriter, r *http.Request) error {
	var body completionRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	name, m, err := h.FindScaled(r.Context(), body.Model, body.Adapters)
	if err != nil {
		return err
	}
	if err := body.check(); err != nil {
		return err
	}
	if body.MaxTokens == nil {
		usual := 16 // as the protocol says
		body.MaxTokens = &usual
	}
	request, err := body.request(m)
	if err != nil {
		return err
	}
	if request.Grammar, err = h.grammarOf(&body.restricted); err != nil {
		return err
	}
	a := h.newAnswer(w, name, &body.common)
	if body.Logprobs != nil {
		if a.logprobs, err = newDescriber(&request, m, field[int]{"logprobs", body.Logprobs}); err != nil {
			return err
		}
	}
	request.N, request.Usage, request.User = body.count(), a.took, gate.UserOf(r.Context())
	if body.BestOf != nil && *body.BestOf > request.N {
		request.N, request.Logprobs, a.best = *body.BestOf, true, *body.BestOf
	}
	echoes, err := body.echoes(m)
	if err != nil {
		return err
	}
	return a.run(newTexts(request.N, echoes...), continuations(r.Context(), gate.Continuer{Model: m, Prompts: body.Prompt}, request))
}

// echoes returns what precedes the continuations of each prompt: nothing, or the prompt.
func (b *completionRequest) echoes(m Model) ([]string, error) {
	list := make([]string, len(b.Prompt))
	for i, p := range b.Prompt {
		if !b.Echo {
			continue
		}
		var err error
		if list[i], err = p.String(m); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// continuations returns the tokens of continuations as parts.
func continuations(ctx context.Context, c gate.Continuer, r llm.Request) iter.Seq2[gate.Part, error] {
	return func(yield func(gate.Part, error) bool) {
		for t, err := range c.Continue(ctx, r) {
			if !yield(gate.Part{Part: chat.Part{Text: t.Text}, Choice: t.Choice, Token: &t}, err) || err != nil {
				return
			}
			if t.Finish != llm.Unfinished && !yield(gate.Part{Choice: t.Choice, Finish: t.Finish, Stop: t.Stop}, nil) {
				return
			}
		}
	}
}
