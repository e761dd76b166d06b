package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// Pooling says how the activations of a text's tokens become a vector.
type Pooling int

// The kinds of Pooling.
const (
	LastToken  Pooling = iota // the activations of the last token, which attends to all other tokens
	MeanTokens                // the mean of the activations of all tokens
)

// EmbedOptions are the options of OpenEmbedder.
type EmbedOptions struct {
	// Pooling must be the kind that the model was trained with. A model that was not trained to compute vectors gives poor vectors.
	Pooling Pooling
	// MaxTokens is the largest number of tokens of a text. 0 means the model's context, but at most 8192.
	MaxTokens int
	// Map, Progress and Interrupt are those of Options.
	Map       bool
	Progress  func(done, total int64)
	Interrupt func() error
}

// An Embedder computes vectors of texts with a language model. Its vectors are the activations after the final norm, pooled as EmbedOptions.Pooling
// says, and scaled to length 1. Several goroutines may use an Embedder; their calls take turns.
type Embedder struct {
	tokenizer *tokenizer.Tokenizer
	pooling   Pooling
	most      int // tokens of a text
	batch     int // tokens that are computed at once

	mu     sync.Mutex // of what follows
	closed bool
	network
}

// The numbers of tokens and of texts that an Embedder computes at once.
const (
	embedCPU   = 512
	embedGPU   = 4096
	embedTexts = 64
)

// OpenEmbedder loads a language model for vectors of texts. See Open for the path and the errors.
func OpenEmbedder(dev *device.Device, path string, o EmbedOptions) (*Embedder, error) {
	f, err := OpenFiles(path)
	if err != nil {
		return nil, err
	}
	e := &Embedder{tokenizer: f.Tokenizer, pooling: o.Pooling, batch: embedGPU}
	if dev.Info().Kind == "cpu" {
		e.batch = embedCPU
	}
	if err = errors.Join(e.start(dev, f, o), f.Weights.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), e.Close())
	}
	return e, nil
}

// start loads the weights and makes the cache.
func (e *Embedder) start(dev *device.Device, f *Files, o EmbedOptions) (err error) {
	if err := e.load(dev, f, loading{mapped: o.Map, progress: o.Progress, interrupt: o.Interrupt}); err != nil {
		return err
	}
	if e.most = o.MaxTokens; e.most <= 0 {
		e.most = 8192
	}
	e.most = min(e.most, e.model.Context)
	tokens := max(e.batch, e.most)
	if err := roomForTokens(dev, int64(e.model.TokenBytes(dtype.Invalid)), tokens); err != nil {
		return err
	}
	e.cache, err = e.model.NewCache(e.stream, llama.CacheOptions{Sequences: embedTexts, Tokens: tokens})
	return err
}

// Close waits until running calls have returned, and frees the memory.
func (e *Embedder) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	e.closed = true
	return e.close()
}

// Width returns the number of elements of a vector.
func (e *Embedder) Width() int { return e.model.Hidden }

// MaxTokens returns the largest number of tokens of a text.
func (e *Embedder) MaxTokens() int { return e.most }

// BatchTokens returns the largest number of tokens that are computed at once.
func (e *Embedder) BatchTokens() int { return e.batch }

// Encode returns the tokens of a text, at most MaxTokens; complete reports whether these are all tokens of the text.
func (e *Embedder) Encode(text string) (tokens []int32, complete bool) {
	o := tokenizer.Options{PlainText: true, MaxLength: e.most + 1}
	if tokens = e.tokenizer.EncodeWith(text, o).IDs; len(tokens) <= e.most {
		return tokens, true
	}
	o.MaxLength = e.most
	return e.tokenizer.EncodeWith(text, o).IDs, false
}

// Check returns the error that EmbedTokens would return for the tokens of a text, or nil.
func (e *Embedder) Check(tokens []int32) error {
	if len(tokens) == 0 {
		return fmt.Errorf("%w: a text without tokens has no vector", ErrRequest)
	}
	if len(tokens) > e.most {
		return &ContextError{Tokens: len(tokens), Context: e.most}
	}
	for i, id := range tokens {
		if id < 0 || int(id) >= e.model.Vocabulary {
			return fmt.Errorf("%w: element %d, %d, is not a token of the model", ErrRequest, i, id)
		}
	}
	return nil
}

// Embed returns a vector of Width elements for each text. If a text has more than MaxTokens tokens, Embed uses only the first MaxTokens.
func (e *Embedder) Embed(ctx context.Context, texts ...string) ([][]float32, error) {
	tokens := make([][]int32, len(texts))
	for i, text := range texts {
		tokens[i], _ = e.Encode(text)
	}
	return e.EmbedTokens(ctx, tokens...)
}

// EmbedTokens is like Embed, for texts that are given as tokens. The errors match ErrRequest, ErrContext, ErrLogits and ErrClosed.
func (e *Embedder) EmbedTokens(ctx context.Context, texts ...[]int32) ([][]float32, error) {
	for _, tokens := range texts {
		if err := e.Check(tokens); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	list := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n, tokens := 0, 0
		for n < min(len(texts), embedTexts) && (n == 0 || tokens+len(texts[n]) <= e.batch) {
			tokens += len(texts[n])
			n++
		}
		part, err := e.compute(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		list, texts = append(list, part...), texts[n:]
	}
	return list, nil
}

// compute returns the vectors of texts that fit into a batch, or of one that does not, which is computed in several steps.
func (e *Embedder) compute(ctx context.Context, texts [][]int32) ([][]float32, error) {
	defer e.cache.Reset()
	sums := make([][]float64, len(texts))
	for i := range sums {
		sums[i] = make([]float64, e.Width())
	}
	for from := 0; from == 0 || from < len(texts[0]); from += e.batch {
		spans := make([]llama.Span, len(texts))
		for i, tokens := range texts {
			spans[i] = llama.Span{Sequence: i, Tokens: tokens[from:min(from+e.batch, len(tokens))]}
		}
		if err := e.add(ctx, spans, sums); err != nil {
			return nil, err
		}
	}
	list := make([][]float32, len(texts))
	for i, v := range sums {
		if list[i] = unit(v); list[i] == nil {
			return nil, ErrLogits
		}
	}
	return list, nil
}

// add appends spans to the texts, and adds the sums of their activations or, with LastToken, stores those of the last tokens.
func (e *Embedder) add(ctx context.Context, spans []llama.Span, sums [][]float64) error {
	var values []float32
	if err := tensor.RunOn(ctx, e.stream, func(s *tensor.Scope) error {
		x, err := e.model.Forward(s, e.cache, spans...)
		if err != nil {
			return err
		}
		values, err = tensor.Values[float32](ctx, e.pool(x, spans))
		return err
	}); err != nil {
		return err
	}
	for i, sum := range sums {
		for j, v := range values[i*len(sum) : (i+1)*len(sum)] {
			if e.pooling == LastToken {
				sum[j] = 0
			}
			sum[j] += float64(v)
		}
	}
	return nil
}

// pool returns a row for each span: the sum of the activations of its tokens, or those of the last one.
func (e *Embedder) pool(x *tensor.Tensor, spans []llama.Span) *tensor.Tensor {
	s, end := x.Scope(), 0
	last, parts := make([]int32, len(spans)), make([]*tensor.Tensor, len(spans))
	for i, span := range spans {
		end += len(span.Tokens)
		last[i] = int32(end - 1)
	}
	if e.pooling == LastToken {
		return e.model.Normalized(x.Take(0, tensor.From(s, last, len(last))))
	}
	x, end = e.model.Normalized(x), 0
	for i, span := range spans {
		parts[i] = x.Slice(0, end, end+len(span.Tokens)).Sum(0).Reshape(1, -1)
		end += len(span.Tokens)
	}
	return tensor.Concat(0, parts...)
}

// unit returns a vector scaled to length 1, or nil if an element is not finite. A vector of zeros stays.
func unit(v []float64) []float32 {
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	if math.IsNaN(square) || math.IsInf(square, 0) {
		return nil
	}
	scaled, length := make([]float32, len(v)), math.Sqrt(square)
	for i, x := range v {
		if length > 0 {
			scaled[i] = float32(x / length)
		}
	}
	return scaled
}
