package openai

import (
	"net/http"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// tokenizeRequest is the body of a request for tokens, as in vLLM: of a text, or of a conversation.
type tokenizeRequest struct {
	chatRequest
	Prompt  *string `json:"prompt"`
	Special *bool   `json:"add_special_tokens"` // of a text; true by default
	Strings bool    `json:"return_token_strs"`
}

// tokenize answers with the tokens of a text or of a conversation.
func (h *Handler) tokenize(w http.ResponseWriter, r *http.Request) error {
	var body tokenizeRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	m, err := h.tokenized(body.Model)
	if err != nil {
		return err
	}
	ids, err := body.ids(m)
	if err != nil {
		return err
	}
	answer := struct {
		Count   int      `json:"count"`
		Most    int      `json:"max_model_len"`
		Tokens  []int32  `json:"tokens"`
		Strings []string `json:"token_strs"`
	}{Count: len(ids), Most: m.Context(), Tokens: append([]int32{}, ids...)}
	if body.Strings {
		for _, id := range ids {
			s, _ := m.Tokenizer().Token(id)
			answer.Strings = append(answer.Strings, s)
		}
	}
	return gate.WriteJSON(w, answer)
}

// tokenized returns the model of a request, which must have a tokenizer.
func (h *Handler) tokenized(name string) (gate.Tokenized, error) {
	_, m, err := h.Find(name)
	if err != nil {
		return nil, err
	}
	return gate.TokenizedOf(m)
}

// ids returns the tokens.
func (b *tokenizeRequest) ids(m gate.Tokenized) ([]int32, error) {
	if b.Prompt != nil {
		o := tokenizer.Options{OmitSpecial: b.Special != nil && !*b.Special}
		return m.Tokenizer().EncodeWith(*b.Prompt, o).IDs, nil
	}
	q, err := b.question(m)
	if err != nil {
		return nil, err
	}
	var r llm.Request
	r.Template.Variables = b.Template
	return q.Tokens(r)
}

// detokenizeRequest is the body of a request for the text of tokens.
type detokenizeRequest struct {
	Model  string  `json:"model"`
	Tokens []int32 `json:"tokens"`
}

// detokenize answers with the text of tokens, special tokens included.
func (h *Handler) detokenize(w http.ResponseWriter, r *http.Request) error {
	var body detokenizeRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	m, err := h.tokenized(body.Model)
	if err != nil {
		return err
	}
	for i, id := range body.Tokens {
		if _, ok := m.Tokenizer().Token(id); !ok {
			return gate.Invalid("tokens", "element %d, %d, is not a token of the model", i, id)
		}
	}
	return gate.WriteJSON(w, map[string]string{"prompt": m.Tokenizer().Decode(body.Tokens)})
}
