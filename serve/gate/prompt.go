package gate

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"sync"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// A Prompt is the input of a model: a text, or a sequence of texts and tokens.
type Prompt struct {
	Text   string
	Pieces []Piece // nil for a text
}

// Piece is a text or a token.
type Piece struct {
	Text    string
	Token   int32
	IsToken bool
}

// Prompts are the prompts of a request. In JSON, they are a single prompt or a list of prompts. A prompt is a text, or a list of tokens and
// texts that begins with a token.
type Prompts []Prompt

// errPrompt is the Failure of something else.
var errPrompt = Failure{Status: http.StatusBadRequest, Param: "prompt", Message: "prompt: neither a text, nor tokens, nor a list of these"}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Prompts) UnmarshalJSON(data []byte) error {
	*p = nil
	if string(data) == "null" {
		return nil
	}
	var one Prompt
	if one.UnmarshalJSON(data) == nil {
		*p = Prompts{one}
		return nil
	}
	var list []Prompt
	if json.Unmarshal(data, &list) != nil {
		return errPrompt
	}
	*p = list
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Prompt) UnmarshalJSON(data []byte) error {
	*p = Prompt{}
	if json.Unmarshal(data, &p.Text) == nil && string(data) != "null" {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil || len(list) == 0 {
		return errPrompt
	}
	for i, raw := range list {
		var piece Piece
		switch {
		case string(raw) != "null" && json.Unmarshal(raw, &piece.Token) == nil:
			piece.IsToken = true
		case i == 0 || string(raw) == "null" || json.Unmarshal(raw, &piece.Text) != nil:
			return errPrompt
		}
		p.Pieces = append(p.Pieces, piece)
	}
	return nil
}

// Tokens returns the tokens of the prompt. The error is a Failure.
func (p Prompt) Tokens(m Model) ([]int32, error) {
	t, err := TokenizedOf(m)
	if err != nil {
		return nil, err
	}
	if p.Pieces == nil {
		return t.Tokenizer().EncodeWith(p.Text, tokenizer.Options{PlainText: true}).IDs, nil
	}
	var ids []int32
	for _, piece := range p.Pieces {
		if piece.IsToken {
			ids = append(ids, piece.Token)
			continue
		}
		ids = append(ids, t.Tokenizer().EncodeWith(piece.Text, tokenizer.Options{PlainText: true, OmitSpecial: true}).IDs...)
	}
	return ids, nil
}

// String returns the prompt as a text. The error is a Failure.
func (p Prompt) String(m Model) (string, error) {
	if p.Pieces == nil {
		return p.Text, nil
	}
	ids, err := p.Tokens(m)
	if err != nil {
		return "", err
	}
	t, err := TokenizedOf(m)
	if err != nil {
		return "", err
	}
	return t.Tokenizer().Decode(ids), nil
}

// Continuer continues prompts.
type Continuer struct {
	Model   Model
	Prompts Prompts
	// Each, unless it is nil, has an element for each prompt, which receives the usage of the prompt's continuations. It is complete when the iterator
	// of Continue ends.
	Each []llm.Usage
}

// Continue returns the tokens of all continuations, which are generated at the same time. Each prompt gets r.N continuations. Token.Choice is i*r.N+j
// for continuation j of prompt i. The iterator ends after an error, which wraps ErrLeft if the client has left. Continue stores the usage of all
// continuations together in *r.Usage, so r.Usage must not be nil.
func (c Continuer) Continue(ctx context.Context, r llm.Request) iter.Seq2[llm.Token, error] {
	endsTurn(ctx, len(c.Prompts), &r)
	g := newGeneration(ctx, "text_completion", &r)
	return func(yield func(llm.Token, error) bool) {
		defer g.end()
		for t, err := range c.all(ctx, r, g) {
			err = leftOr(ctx, err)
			if g.token(t, err); !yield(t, err) {
				return
			}
		}
	}
}

// all is Continue, which records the times of each prompt in g.
func (c Continuer) all(ctx context.Context, r llm.Request, g *generation) iter.Seq2[llm.Token, error] {
	return func(yield func(llm.Token, error) bool) {
		if len(c.Prompts) == 1 {
			c.one(ctx, 0, r)(yield)
			g.stages(r.Usage)
			if c.Each != nil {
				c.Each[0] = *r.Usage
			}
			return
		}
		whole := ctx
		ctx, cancel := context.WithCancel(whole)
		defer cancel()
		used, arrived := make([]llm.Usage, len(c.Prompts)), make(chan arrival)
		var all sync.WaitGroup
		for i := range c.Prompts {
			of := r
			of.Usage = &used[i]
			all.Go(func() { c.send(ctx, i, of, arrived) })
		}
		go func() { all.Wait(); close(arrived) }()
		for a := range arrived {
			if !yield(a.token, a.err) || a.err != nil {
				return
			}
		}
		if err := whole.Err(); err != nil { // send may not have sent it
			yield(llm.Token{}, err)
			return
		}
		for i := range used {
			r.Usage.Add(used[i])
			g.stages(&used[i])
		}
		copy(c.Each, used)
	}
}

// arrival is a token of one of several prompts.
type arrival struct {
	token llm.Token
	err   error
}

// send sends the tokens of a prompt until ctx is done.
func (c Continuer) send(ctx context.Context, i int, r llm.Request, to chan<- arrival) {
	for t, err := range c.one(ctx, i, r) {
		t.Choice += i * max(r.N, 1)
		select {
		case to <- arrival{t, err}:
		case <-ctx.Done():
			return
		}
	}
}

// one returns the tokens of the continuations of a prompt.
func (c Continuer) one(ctx context.Context, i int, r llm.Request) iter.Seq2[llm.Token, error] {
	p := c.Prompts[i]
	if p.Pieces == nil {
		return c.Model.Generate(ctx, p.Text, r)
	}
	return func(yield func(llm.Token, error) bool) {
		ids, err := p.Tokens(c.Model)
		if err != nil {
			yield(llm.Token{}, err)
			return
		}
		m, err := TokenizedOf(c.Model)
		if err != nil {
			yield(llm.Token{}, err)
			return
		}
		m.Continue(ctx, ids, r)(yield)
	}
}
