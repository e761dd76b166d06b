package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// Errors of Generate and Chat.
var (
	// ErrClosed is the error of a Model that is closed.
	ErrClosed = errors.New("llm: the model is closed")
	// ErrContext is the error of a prompt that fills the context.
	ErrContext = errors.New("llm: the prompt is longer than the context")
	// ErrChat is the error of a conversation with a model that has no template for one.
	ErrChat = errors.New("llm: the model has no chat template; use Generate")
	// ErrLogits is the error of a model whose scores are all NaN.
	ErrLogits = errors.New("llm: all scores are NaN; the weights may be damaged")
)

// Request says how to generate a text. The zero value chooses the most probable token each time.
type Request struct {
	// MaxTokens limits the number of tokens. 0 means until the model ends the text or the context is full.
	MaxTokens int
	// Temperature divides the scores. 0 chooses the most probable token.
	Temperature float64
	// TopK, TopP and MinP restrict the choice to the TopK most probable tokens, to the fewest whose probabilities have the sum TopP, and
	// to those that are at least MinP times as probable as the most probable one. 0 means no restriction.
	TopK       int
	TopP, MinP float64
	// RepetitionPenalty divides the positive scores of tokens that occur in the prompt or in the text, and multiplies negative ones
	// (Keskar et al., "CTRL"). 0 and 1 mean no penalty.
	RepetitionPenalty float64
	// Seed selects the random numbers. The same seed gives the same text.
	Seed uint64
	// Stop are texts that end the generation. They are not part of the result.
	Stop []string
	// Template are the options of the template, for Chat.
	Template chat.Options
	// Usage, unless it is nil, receives what the text took.
	Usage *Usage
}

// Finish says why a text ended.
type Finish int

// The reasons.
const (
	Unfinished Finish = iota
	Ended             // by the model
	Stopped           // by one of Request.Stop
	Limited           // by Request.MaxTokens
	Full              // the context is full
)

// Token is a part of a text. The last one has a Finish other than Unfinished, and may have no text.
type Token struct {
	ID     int32
	Text   string // may be empty: a character may take several tokens
	Finish Finish
}

// Chat returns the tokens of the answer to a conversation. It stops after an error, and when ctx is done.
func (m *Model) Chat(ctx context.Context, messages []chat.Message, r Request) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		if m.template == nil {
			yield(Token{}, ErrChat)
			return
		}
		o := r.Template
		o.Generate = true
		text, err := m.template.Render(messages, o)
		if err != nil {
			yield(Token{}, err)
			return
		}
		m.generate(ctx, m.tokenizer.EncodeWith(text, tokenizer.Options{OmitSpecial: true}).IDs, r, yield)
	}
}

// Generate returns the tokens of the continuation of a text. It stops after an error, and when ctx is done.
func (m *Model) Generate(ctx context.Context, prompt string, r Request) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		m.generate(ctx, m.tokenizer.EncodeWith(prompt, tokenizer.Options{PlainText: true}).IDs, r, yield)
	}
}

// The largest numbers of tokens that are computed at once, between which a done context is noticed.
const (
	chunkCPU = 256
	chunkGPU = 2048
)

// generate yields the continuation of tokens.
func (m *Model) generate(ctx context.Context, prompt []int32, r Request, yield func(Token, error) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stream == nil {
		yield(Token{}, ErrClosed)
		return
	}
	if len(prompt) == 0 {
		if bos, ok := m.tokenizer.BOS(); ok {
			prompt = []int32{bos}
		}
	}
	if len(prompt) == 0 || len(prompt) >= m.context {
		yield(Token{}, fmt.Errorf("%w: %d tokens, %d", ErrContext, len(prompt), m.context))
		return
	}
	g := generation{Model: m, request: r, began: time.Now(), text: newText(m.tokenizer.NewDecoder(tokenizer.DecodeOptions{SkipSpecial: true}), r.Stop)}
	if g.request.Usage == nil {
		g.request.Usage = &Usage{}
	}
	err := g.begin(ctx, prompt)
	if err == nil {
		err = g.run(ctx, yield)
	}
	if err != nil {
		m.cache.Truncate(0, len(m.tokens))
		_ = m.stream.Synchronize(context.WithoutCancel(ctx)) // takes the faults that err reports
		yield(Token{}, err)
	}
}

// reuse removes from the cache what is not a prefix of a prompt, and returns the rest of the prompt, which has at least one token.
func (m *Model) reuse(prompt []int32) (rest []int32) {
	same := 0
	for same < min(len(m.tokens), len(prompt)-1) && m.tokens[same] == prompt[same] {
		same++
	}
	m.cache.Truncate(0, same)
	m.tokens = m.tokens[:same]
	return prompt[same:]
}

// generation is the state of a call of generate.
type generation struct {
	*Model
	request Request
	began   time.Time
	text    *text
}

// begin computes the prompt and chooses the first token.
func (g *generation) begin(ctx context.Context, prompt []int32) error {
	next := g.reuse(prompt)
	*g.request.Usage = Usage{Prompt: len(prompt), Known: len(prompt) - len(next)}
	if err := g.sampler.begin(g.request, prompt); err != nil {
		return err
	}
	chunk := chunkCPU
	if g.ahead {
		chunk = chunkGPU
	}
	for len(next) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		span := llama.Span{Tokens: next[:min(chunk, len(next))]}
		if next = next[len(span.Tokens):]; len(next) == 0 {
			if err := g.decoder.Begin(ctx, span); err != nil {
				return err
			}
		} else if err := tensor.RunOn(ctx, g.stream, func(s *tensor.Scope) error {
			_, err := g.network.Forward(s, g.cache, span)
			return err
		}); err != nil {
			return err
		}
		g.tokens = append(g.tokens, span.Tokens...)
	}
	return nil
}

// run yields the tokens. If the model works ahead, the device computes the next token while the host reads one.
func (g *generation) run(ctx context.Context, yield func(Token, error) bool) error {
	for n := 1; ; n++ {
		if err := errors.Join(ctx.Err(), g.mailbox.send(g.decoder.Tokens())); err != nil {
			return err
		}
		more := n != g.request.MaxTokens && len(g.tokens)+1 < g.context
		ahead := g.ahead && more
		if ahead {
			if err := g.decoder.Step(0); err != nil {
				return err
			}
		}
		id, err := g.mailbox.receive(ctx)
		if err != nil {
			return err
		}
		if id < 0 {
			return ErrLogits
		}
		token := g.token(id, n)
		if ahead {
			g.tokens = append(g.tokens, id)
		}
		g.measure(n)
		if !yield(token, nil) || token.Finish != Unfinished {
			return nil
		}
		if !ahead {
			if err := errors.Join(ctx.Err(), g.decoder.Step(0)); err != nil {
				return err
			}
			g.tokens = append(g.tokens, id)
		}
	}
}

// measure updates the Usage after token n.
func (g *generation) measure(n int) {
	u := g.request.Usage
	if u.Generated = n; n == 1 {
		u.First = time.Since(g.began)
	} else {
		u.Rest = time.Since(g.began) - u.First
	}
}

// token returns token n of the text.
func (g *generation) token(id int32, n int) Token {
	if g.ends[id] {
		return Token{ID: id, Text: g.text.rest(), Finish: Ended}
	}
	piece, stopped := g.text.add(id)
	t := Token{ID: id, Text: piece}
	switch {
	case stopped:
		t.Finish = Stopped
	case n == g.request.MaxTokens:
		t.Finish, t.Text = Limited, t.Text+g.text.rest()
	case len(g.tokens)+1 >= g.context:
		t.Finish, t.Text = Full, t.Text+g.text.rest()
	}
	return t
}

// text decodes tokens and finds where a text stops.
type text struct {
	decoder *tokenizer.Decoder
	stop    []string
	held    string // text that may be the beginning of a stop
}

func newText(d *tokenizer.Decoder, stop []string) *text { return &text{decoder: d, stop: stop} }

// add returns the text that a token completes, and reports whether one of the stops follows it.
func (t *text) add(id int32) (piece string, stopped bool) {
	t.held += t.decoder.Write(id)
	at := -1
	for _, s := range t.stop {
		if i := strings.Index(t.held, s); s != "" && i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at >= 0 {
		piece, t.held = t.held[:at], ""
		return piece, true
	}
	n := len(t.held) - t.beginning()
	piece, t.held = t.held[:n], t.held[n:]
	return piece, false
}

// beginning returns the length of the longest end of the held text with which a stop begins.
func (t *text) beginning() int {
	longest := 0
	for _, s := range t.stop {
		for n := min(len(s)-1, len(t.held)); n > longest; n-- {
			if strings.HasSuffix(t.held, s[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// rest returns what was held back.
func (t *text) rest() string {
	rest := t.held + t.decoder.Flush()
	t.held = ""
	return rest
}
