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
	// ErrContext is the error of a prompt that fills the context or is longer. The error is a *ContextError.
	ErrContext = errors.New("llm: the prompt does not fit in the context")
	// ErrChat is the error of a conversation with a model that has no chat template.
	ErrChat = errors.New("llm: the model has no chat template; use Generate")
	// ErrSlow is the error of a text whose tokens the program does not read in time.
	ErrSlow = errors.New("llm: the text is not read as fast as it is generated")
	// ErrLogits is the error of a model whose scores (logits) are all NaN.
	ErrLogits = errors.New("llm: all scores are NaN; the weights may be damaged")
)

// A ContextError is an ErrContext with the number of tokens of the prompt.
type ContextError struct {
	Tokens  int // tokens of the prompt
	Context int // the largest number of tokens of the prompt and the text together
}

// Error implements error.
func (e *ContextError) Error() string {
	if e.Tokens == e.Context {
		return fmt.Sprintf("%v: its %d tokens leave no room for an answer", ErrContext, e.Tokens)
	}
	return fmt.Sprintf("%v: it has %d tokens, and the context %d", ErrContext, e.Tokens, e.Context)
}

// Unwrap returns ErrContext.
func (e *ContextError) Unwrap() error { return ErrContext }

// A Request has the options for the generation of a text. The zero value always chooses the most probable token.
type Request struct {
	// MaxTokens limits the number of tokens. With 0, the text continues until the model ends it or the context is full.
	MaxTokens int
	// Temperature divides the scores (logits) of the tokens. 0 chooses the most probable token.
	Temperature float64
	// TopK, TopP and MinP restrict the choice. TopK permits the TopK most probable tokens. TopP permits the smallest set of most probable
	// tokens whose probabilities sum to at least TopP. MinP permits the tokens that are at least MinP times as probable as the most
	// probable token. 0 means no restriction.
	TopK       int
	TopP, MinP float64
	// RepetitionPenalty makes tokens that occur in the prompt or in the text less probable: it divides their positive scores, and
	// multiplies their negative scores (Keskar et al., "CTRL"). 0 and 1 mean no penalty.
	RepetitionPenalty float64
	// FrequencyPenalty is subtracted from the score of a token for each occurrence of the token in the text. PresencePenalty is subtracted
	// once if the token occurs in the text. Occurrences in the prompt do not count.
	FrequencyPenalty, PresencePenalty float64
	// Bias maps tokens to numbers that are added to their scores. Negative infinity excludes a token. At most MostBiases tokens have a bias.
	Bias map[int32]float64
	// IgnoreEnd excludes the tokens with which the model ends a text.
	IgnoreEnd bool
	// If Logprobs is true, each Token has Logprobs. TopLogprobs is the number of most probable tokens in Logprobs.Top, at most
	// MostLogprobs.
	Logprobs    bool
	TopLogprobs int
	// N is the number of texts to generate for the prompt, at the same time. 0 means 1. Token.Choice is the index of a token's text. Text i has the
	// seed Seed+i. The texts share the memory of the prompt.
	N int
	// Priority orders the waiting texts: texts with a smaller Priority begin first. If the cache is full, texts with a larger Priority are
	// interrupted first.
	Priority int
	// User identifies the user who sends the request. Among texts of the same priority, users take turns.
	User string
	// Adapter is the name of one of Options.Adapters, or "" for none.
	Adapter string
	// Salt separates users: texts with different salts share no cached tokens. If tokens are shared, the time that a prompt takes reveals whether
	// another user's prompt begins with the same tokens.
	Salt string
	// Seed selects the random numbers. The same seed gives the same text, within the limits that the package documentation states.
	Seed uint64
	// Grammar, unless it is nil, restricts the result to texts of the grammar. If the text ends early, for example because of MaxTokens, it is the
	// beginning of such a text.
	Grammar *grammar.Grammar
	// Stop lists texts that end the generation when the model generates them. They are not part of the result.
	Stop []string
	// Exempt, unless it is nil, makes Stop ineffective in parts of a text, such as function calls. It is called once for each of the N texts. The
	// function that it returns receives the text piece by piece. After this function has returned true, Stop has no effect on the text that follows,
	// until the function returns false. The function is called between steps, so it should be fast.
	Exempt func() func(piece string) bool
	// Template has the options of the chat template, for Chat.
	Template chat.Options
	// Usage, unless it is nil, receives the numbers of tokens and the times of the text.
	Usage *Usage
	// Queued, unless it is nil, is called when the prompt has been tokenized and the request begins to wait.
	Queued func()
}

// Finish is the reason why a text ended.
type Finish int

// The reasons.
const (
	Unfinished Finish = iota
	Ended             // the model ended the text
	Stopped           // the model generated a text of Request.Stop
	Limited           // the text has Request.MaxTokens tokens
	Full              // the context is full
)

// A Token is a part of a text. Only the last Token of a text has a Finish other than Unfinished; its Text may be empty.
type Token struct {
	ID     int32
	Choice int    // the number of the text, below Request.N
	Text   string // may be empty, because a character may take several tokens
	Finish Finish
	Stop   string // the element of Request.Stop that ended the text, if Finish is Stopped

	Logprobs *Logprobs // nil unless the request asks for them
}

// Logprobs are the natural logarithms of the probabilities of tokens. They include the effects of Request.Bias, of penalties and of
// Request.Grammar, but not those of Temperature, TopK, TopP and MinP.
type Logprobs struct {
	Chosen float64  // of the chosen token
	Top    []Likely // the Request.TopLogprobs most probable tokens, most probable first; fewer if Request.Grammar allows fewer
}

// Likely is a token and the natural logarithm of its probability.
type Likely struct {
	ID      int32
	Logprob float64
}

// Chat returns the tokens of the answer to a conversation. If r.Template lists tools, the answer may contain function calls, which a chat.Parser
// finds. The iterator ends after an error, and when ctx is done.
func (m *Model) Chat(ctx context.Context, messages []chat.Message, r Request) iter.Seq2[Token, error] {
	return m.unlessBusy(r, func(yield func(Token, error) bool) {
		o := r.Template
		o.Interrupt = ctx.Err
		text, err := m.Prompt(messages, o)
		if err != nil {
			yield(Token{}, err)
			return
		}
		m.read(ctx, task{m.tokenizer.EncodeWith(text, tokenizer.Options{OmitSpecial: true}).IDs, r}, yield)
	})
}

// Continue is like Generate, for a prompt that is given as tokens.
func (m *Model) Continue(ctx context.Context, prompt []int32, r Request) iter.Seq2[Token, error] {
	return m.unlessBusy(r, func(yield func(Token, error) bool) {
		for i, id := range prompt {
			if _, ok := m.tokenizer.Token(id); !ok {
				yield(Token{}, fmt.Errorf("%w: element %d of the prompt, %d, is not a token of the model", ErrRequest, i, id))
				return
			}
		}
		m.read(ctx, task{slices.Clone(prompt), r}, yield)
	})
}

// Generate returns the tokens of the continuation of a prompt. The iterator ends after an error, and when ctx is done.
func (m *Model) Generate(ctx context.Context, prompt string, r Request) iter.Seq2[Token, error] {
	return m.unlessBusy(r, func(yield func(Token, error) bool) {
		m.read(ctx, task{m.tokenizer.EncodeWith(prompt, tokenizer.Options{PlainText: true}).IDs, r}, yield)
	})
}

// unlessBusy returns an iterator that calls tokens, unless the engine would refuse the texts of a request whatever their prompts are. So a
// refusal takes no time for a template and a tokenizer.
func (m *Model) unlessBusy(r Request, tokens iter.Seq2[Token, error]) iter.Seq2[Token, error] {
	return func(yield func(Token, error) bool) {
		if err := m.engine.refuses(max(r.N, 1)); err != nil {
			yield(Token{}, err)
			return
		}
		tokens(yield)
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
	if len(t.prompt) == 0 {
		yield(Token{}, fmt.Errorf("%w: the prompt is empty, and the model has no token that begins a text", ErrRequest))
		return
	}
	if len(t.prompt) >= m.context {
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
	if err == nil && t.request.Queued != nil {
		t.request.Queued()
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
