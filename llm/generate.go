package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
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

// chunk is the largest number of tokens that are computed at once, between which a done context is noticed.
const chunk = 256

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
	began := time.Now()
	usage := r.Usage
	if usage == nil {
		usage = &Usage{}
	}
	g := generation{Model: m, request: r, next: m.reuse(prompt), text: newText(m.tokenizer.NewDecoder(tokenizer.DecodeOptions{SkipSpecial: true}), r.Stop)}
	*usage = Usage{Prompt: len(prompt), Known: len(prompt) - len(g.next)}
	for n := 1; ; n++ {
		token, err := g.step(ctx, n)
		if usage.Generated = n; n == 1 {
			usage.First = time.Since(began)
		} else {
			usage.Rest = time.Since(began) - usage.First
		}
		if !yield(token, err) || err != nil || token.Finish != Unfinished {
			return
		}
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
	next    []int32 // tokens that the cache does not have yet
	text    *text
}

// step returns token n of the text.
func (g *generation) step(ctx context.Context, n int) (Token, error) {
	id, err := g.choose(ctx)
	if err != nil {
		return Token{}, err
	}
	if g.ends[id] {
		return Token{ID: id, Text: g.text.rest(), Finish: Ended}, nil
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
	g.next = []int32{id}
	return t, nil
}

// choose computes the tokens that the cache does not have, and chooses the next one.
func (g *generation) choose(ctx context.Context) (id int32, err error) {
	for len(g.next) > 0 && err == nil {
		part := g.next[:min(chunk, len(g.next))]
		g.next = g.next[len(part):]
		before := len(g.tokens)
		err = tensor.RunOn(ctx, g.stream, func(s *tensor.Scope) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			x, err := g.network.Forward(s, g.cache, llama.Span{Tokens: part})
			if err != nil || len(g.next) > 0 {
				return err
			}
			id, err = g.sample(s, g.network.Logits(x.Slice(0, len(part)-1, len(part))))
			return err
		})
		if err != nil {
			g.cache.Truncate(0, before)
			return 0, err
		}
		g.tokens = append(g.tokens, part...)
	}
	if id < 0 {
		return 0, ErrLogits
	}
	return id, err
}

// sample chooses a token on the device.
func (g *generation) sample(s *tensor.Scope, logits *tensor.Tensor) (int32, error) {
	r, shape := g.request, sampling.Shape{Rows: 1, Vocabulary: g.network.Vocabulary}
	params := sampling.Params{Seed: r.Seed, Temperature: float32(r.Temperature), TopP: float32(r.TopP), MinP: float32(r.MinP), TopK: int32(r.TopK)}
	p, err := device.Upload(s.Stream(), []sampling.Params{params})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	position := tensor.From(s, []int32{int32(len(g.tokens))}, 1)
	work, err := device.MakeDirty[int32](s.Stream(), sampling.Workspace(s.Stream(), shape))
	if err != nil {
		return 0, err
	}
	defer work.Close()
	chosen := tensor.Op{Name: "Sample", In: []*tensor.Tensor{logits, position}, DType: position.DType(), Shape: []int{1}, Launch: func(stream *device.Stream, out *tensor.Tensor) error {
		x := sampling.Operands{Params: p.All(), Work: work.All()}
		var err error
		if x.Logits, err = tensor.SliceOf[float32](logits); err != nil {
			return err
		}
		if x.Positions, err = tensor.SliceOf[int32](position); err != nil {
			return err
		}
		if x.Tokens, err = tensor.SliceOf[int32](out); err != nil {
			return err
		}
		return sampling.Sample(stream, shape, x)
	}}.Apply()
	list, err := tensor.Values[int32](s.Context(), chosen)
	if err != nil {
		return 0, err
	}
	return list[0], nil
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
