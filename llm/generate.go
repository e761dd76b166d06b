package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// Errors of Generate and Chat.
var (
	// ErrClosed is the error of a Model that is closed.
	ErrClosed = errors.New("llm: the model is closed")
	// ErrContext is the error of a prompt that fills the context. Generate and Chat return it as a *ContextError.
	ErrContext = errors.New("llm: the prompt is longer than the context")
	// ErrChat is the error of a conversation with a model that has no template for one.
	ErrChat = errors.New("llm: the model has no chat template; use Generate")
	// ErrSlow is the error of a program that does not read the tokens of one of several texts.
	ErrSlow = errors.New("llm: the text is not read as fast as it is generated")
	// ErrLogits is the error of a model whose scores are all NaN.
	ErrLogits = errors.New("llm: all scores are NaN; the weights may be damaged")
)

// A ContextError is the ErrContext of a prompt.
type ContextError struct {
	Tokens  int // of the prompt
	Context int // tokens of the prompt and the text together, at most
}

// Error implements error.
func (e *ContextError) Error() string {
	return fmt.Sprintf("%v: %d tokens, %d", ErrContext, e.Tokens, e.Context)
}

// Unwrap returns ErrContext.
func (e *ContextError) Unwrap() error { return ErrContext }

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
	// FrequencyPenalty is subtracted from the score of a token for each time that it occurs in the text, and PresencePenalty once if it
	// does. The prompt has no influence on them.
	FrequencyPenalty, PresencePenalty float64
	// Bias is added to the scores of tokens. Negative infinity excludes a token. There are at most MostBiases.
	Bias map[int32]float64
	// IgnoreEnd excludes the tokens with which the model ends a text.
	IgnoreEnd bool
	// Logprobs asks for Token.Logprobs. TopLogprobs is the number of the most probable tokens there, at most MostLogprobs.
	Logprobs    bool
	TopLogprobs int
	// N is how many texts are generated at once. Token.Choice is the index of a token's text. The texts share the memory of the prompt. Text
	// i has the seed Seed+i. 0 means 1.
	N int
	// Priority orders the texts that wait: those with a smaller number come first. If memory does not suffice, texts with a larger
	// number lose theirs first.
	Priority int
	// User is who asks. Users with the same priority get places in turn.
	User string
	// Adapter is the name of one of Options.Adapters, or "" for none.
	Adapter string
	// Salt separates texts that must not use each other's memory: from the time that a prompt takes, a program could learn whether another
	// prompt begins in the same way.
	Salt string
	// Seed selects the random numbers. The same seed gives the same text, within the limits that the documentation of the package states.
	Seed uint64
	// Grammar, unless it is nil, restricts the text: one that the model ends is in the grammar. One that ends for another reason is the
	// beginning of such a text.
	Grammar *grammar.Grammar
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

// Token is a part of a text. The last one of a text has a Finish other than Unfinished, and may have no text.
type Token struct {
	ID     int32
	Choice int    // the number of the text, below Request.N
	Text   string // may be empty: a character may take several tokens
	Finish Finish
	Stop   string // the one of Request.Stop that ended the text, if Finish is Stopped

	Logprobs *Logprobs // nil unless the request asks for them
}

// Logprobs are the natural logarithms of the probabilities of tokens after Request.Bias, penalties and Request.Grammar, but without
// Temperature, TopK, TopP and MinP.
type Logprobs struct {
	Chosen float64  // that of the token that was chosen
	Top    []Likely // the most probable tokens, by falling probability: Request.TopLogprobs, or fewer if Request.Grammar allows fewer
}

// Likely is a token that could have been chosen, and the natural logarithm of its probability.
type Likely struct {
	ID      int32
	Logprob float64
}

// Chat returns the tokens of the answer to a conversation. If r.Template has tools, the answer may contain calls, which a chat.Parser
// finds. It stops after an error, and when ctx is done. It may be called by several
// goroutines, and so may Generate.
func (m *Model) Chat(ctx context.Context, messages []chat.Message, r Request) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		text, err := m.Prompt(messages, r.Template)
		if err != nil {
			yield(Token{}, err)
			return
		}
		m.read(ctx, task{m.tokenizer.EncodeWith(text, tokenizer.Options{OmitSpecial: true}).IDs, r}, yield)
	}
}

// Continue returns the tokens of the continuation of tokens. It stops after an error, and when ctx is done.
func (m *Model) Continue(ctx context.Context, prompt []int32, r Request) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		for i, id := range prompt {
			if _, ok := m.tokenizer.Token(id); !ok {
				yield(Token{}, fmt.Errorf("%w: element %d of the prompt, %d, is not a token of the model", ErrRequest, i, id))
				return
			}
		}
		m.read(ctx, task{slices.Clone(prompt), r}, yield)
	}
}

// Generate returns the tokens of the continuation of a text. It stops after an error, and when ctx is done.
func (m *Model) Generate(ctx context.Context, prompt string, r Request) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		m.read(ctx, task{m.tokenizer.EncodeWith(prompt, tokenizer.Options{PlainText: true}).IDs, r}, yield)
	}
}

// task is what to generate.
type task struct {
	prompt  []int32
	request Request
}

// read yields the continuation of a prompt.
func (m *Model) read(ctx context.Context, t task, yield func(Token, error) bool) {
	if len(t.prompt) == 0 {
		if bos, ok := m.tokenizer.BOS(); ok {
			t.prompt = []int32{bos}
		}
	}
	if len(t.prompt) == 0 || len(t.prompt) >= m.context {
		yield(Token{}, &ContextError{Tokens: len(t.prompt), Context: m.context})
		return
	}
	if err := m.check(t.request); err != nil {
		yield(Token{}, err)
		return
	}
	origin, err := m.origin(t.request)
	if err != nil {
		yield(Token{}, err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // frees the memory of texts that are not read to their end
	list := m.newCall(ctx, t)
	for _, q := range list {
		q.origin = origin
		if g := t.request.Grammar; g != nil {
			err = errors.Join(err, q.constrain(g, m.vocabulary()))
		}
	}
	if err == nil {
		err = m.engine.submit(list)
	}
	for err == nil {
		e, ok, failure := list[0].receive()
		if err = failure; err != nil || !ok {
			break
		}
		if t.request.Usage != nil {
			*t.request.Usage = e.usage
		}
		if !yield(e.token, nil) {
			return
		}
	}
	if err != nil {
		yield(Token{}, err)
	}
}
