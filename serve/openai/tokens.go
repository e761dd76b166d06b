package openai

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// tokenizeRequest is the body of a request for tokens, as in vLLM: of a text, or of a conversation; or as in llama-server.
type tokenizeRequest struct {
	chatRequest
	Prompt  *string `json:"prompt"`
	Special *bool   `json:"add_special_tokens"` // of a text; true by default
	Strings bool    `json:"return_token_strs"`

	Content  *string `json:"content"`       // the text in llama-server
	AddedTo  bool    `json:"add_special"`   // special tokens are added to it
	AsPieces bool    `json:"with_pieces"`   // the tokens of the answer have texts
	Parse    *bool   `json:"parse_special"` // special tokens in it are tokens, not plain text; true by default
}

// tokenize answers with the tokens of a text or of a conversation.
func (h *Handler) tokenize(w http.ResponseWriter, r *http.Request) error {
	var body tokenizeRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	m, err := h.tokenized(r.Context(), body.Model)
	if err != nil {
		return err
	}
	if body.Content != nil {
		return body.pieces(w, m.Tokenizer())
	}
	ids, err := body.ids(r.Context(), m)
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

// pieces answers as llama-server does.
func (b *tokenizeRequest) pieces(w http.ResponseWriter, t *tokenizer.Tokenizer) error {
	type piece struct {
		ID    int32 `json:"id"`
		Piece any   `json:"piece"` // a text, or the bytes of a part of a character
	}
	list := []any{}
	o := tokenizer.Options{OmitSpecial: !b.AddedTo, PlainText: b.Parse != nil && !*b.Parse}
	for _, id := range t.EncodeWith(*b.Content, o).IDs {
		text := t.TokenText(id)
		switch bytes := make([]int, len(text)); {
		case !b.AsPieces:
			list = append(list, id)
		case utf8.ValidString(text):
			list = append(list, piece{id, text})
		default:
			for i := range text {
				bytes[i] = int(text[i])
			}
			list = append(list, piece{id, bytes})
		}
	}
	return gate.WriteJSON(w, map[string][]any{"tokens": list})
}

// tokenized returns the model of a request, which must have a tokenizer.
func (h *Handler) tokenized(ctx context.Context, name string) (gate.Tokenized, error) {
	_, m, err := h.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	return gate.TokenizedOf(m)
}

// countTokens answers with the number of tokens of a conversation.
func (h *Handler) countTokens(w http.ResponseWriter, r *http.Request) error {
	var body tokenizeRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	m, err := h.tokenized(r.Context(), body.Model)
	if err != nil {
		return err
	}
	ids, err := body.ids(r.Context(), m)
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]int{"input_tokens": len(ids)})
}

// ids returns the tokens.
func (b *tokenizeRequest) ids(ctx context.Context, m gate.Tokenized) ([]int32, error) {
	if b.Prompt != nil {
		o := tokenizer.Options{OmitSpecial: b.Special != nil && !*b.Special}
		return m.Tokenizer().EncodeWith(*b.Prompt, o).IDs, nil
	}
	q, err := b.question(m)
	if err != nil {
		return nil, err
	}
	var r llm.Request
	r.Template.Variables = b.Template.Values()
	return q.Tokens(ctx, r)
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
	m, err := h.tokenized(r.Context(), body.Model)
	if err != nil {
		return err
	}
	for i, id := range body.Tokens {
		if _, ok := m.Tokenizer().Token(id); !ok {
			return gate.Invalid("tokens", "element %d, %d, is not a token of the model", i, id)
		}
	}
	text := m.Tokenizer().Decode(body.Tokens)
	return gate.WriteJSON(w, map[string]string{"prompt": text, "content": text}) // the name in vLLM and the one in llama-server
}
