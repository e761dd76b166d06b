package gate

import (
	"context"
	"iter"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
)

// adapted is a model that uses one of its adapters for all requests.
type adapted struct {
	Tokenized
	adapter string
}

func (m adapted) Chat(ctx context.Context, messages []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	r.Adapter = m.adapter
	return m.Tokenized.Chat(ctx, messages, r)
}

func (m adapted) Generate(ctx context.Context, prompt string, r llm.Request) iter.Seq2[llm.Token, error] {
	r.Adapter = m.adapter
	return m.Tokenized.Generate(ctx, prompt, r)
}

func (m adapted) Continue(ctx context.Context, prompt []int32, r llm.Request) iter.Seq2[llm.Token, error] {
	r.Adapter = m.adapter
	return m.Tokenized.Continue(ctx, prompt, r)
}
