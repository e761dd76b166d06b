package gate

import (
	"context"
	"iter"
	"net/http"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// A Tokenized is a Model with a tokenizer that clients may use. *llm.Model is one.
type Tokenized interface {
	Model
	Tokenizer() *tokenizer.Tokenizer
	Prompt(messages []chat.Message, o chat.Options) (string, error)
	Context() int // the largest number of tokens of a conversation
	Continue(ctx context.Context, prompt []int32, r llm.Request) iter.Seq2[llm.Token, error]
}

// TokenizedOf returns m as a Tokenized. If m has no tokenizer, the error is a Failure.
func TokenizedOf(m Model) (Tokenized, error) {
	if t, ok := m.(Tokenized); ok {
		return t, nil
	}
	return nil, Failure{Status: http.StatusNotImplemented, Message: "the model has no tokenizer that clients may use"}
}

// Tokens returns the tokens of the conversation and of the start of the answer.
func (q Question) Tokens(ctx context.Context, r llm.Request) ([]int32, error) {
	m, err := TokenizedOf(q.Model)
	if err != nil {
		return nil, err
	}
	if r.Template.Tools, _, err = tools(q.Functions); err != nil {
		return nil, err
	}
	r.Template.Interrupt = ctx.Err
	text, err := m.Prompt(q.Messages, r.Template)
	if err != nil {
		return nil, err
	}
	return m.Tokenizer().EncodeWith(text, tokenizer.Options{OmitSpecial: true}).IDs, nil
}
