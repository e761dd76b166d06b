package llm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// ErrShort is the error of Model.Perplexity for a text with fewer tokens than a chunk.
var ErrShort = errors.New("llm: the text is too short")

// ErrChunk is the error of a PerplexityOptions.Chunk that is out of range.
var ErrChunk = errors.New("llm: invalid size of a chunk")

// Perplexity measures how well a model predicts a text. It is the result of Model.Perplexity.
type Perplexity struct {
	Chunks   int
	Size     int     // the number of tokens of a chunk
	Tokens   int     // the number of predicted tokens
	Mean     float64 // the mean of the tokens' negative log-likelihoods
	Variance float64 // the variance of the tokens' negative log-likelihoods
}

// Value returns the perplexity: e to the power of Mean.
func (p Perplexity) Value() float64 { return math.Exp(p.Mean) }

// StandardError returns the standard error of Value, under the assumption that tokens are independent.
func (p Perplexity) StandardError() float64 {
	if p.Tokens < 2 {
		return math.Inf(1)
	}
	return p.Value() * math.Sqrt(p.Variance/float64(p.Tokens-1))
}

// PerplexityOptions are the options of Model.Perplexity.
type PerplexityOptions struct {
	// Chunk is the number of tokens of a chunk: from 4 to the model's context. 0 means 512, but at most the context.
	Chunk int
	// Progress, unless it is nil, is called after each chunk with the result so far and the total number of chunks.
	Progress func(sofar Perplexity, chunks int)
}

// Perplexity computes the perplexity of a text as llama.cpp does. It divides the text into independent chunks. Only the tokens of the second half of
// each chunk count. Tokens after the last complete chunk do not count. If the tokenizer begins texts with a special token (BOS), this token replaces
// the first token of each chunk.
//
// Other goroutines may generate texts at the same time. The errors match ErrLogits, ErrShort or ErrChunk, or are errors of the device.
func (m *Model) Perplexity(ctx context.Context, text string, o PerplexityOptions) (p Perplexity, err error) {
	size := o.Chunk
	if size == 0 {
		size = min(512, m.context)
	}
	if size < 4 {
		return p, fmt.Errorf("%w: %d tokens; a chunk has at least 4", ErrChunk, size)
	}
	if size > m.context {
		return p, fmt.Errorf("%w: %d tokens; the context has %d", ErrChunk, size, m.context)
	}
	tokens := m.tokenizer.EncodeWith(text, tokenizer.Options{PlainText: true}).IDs
	if len(tokens) < size {
		return p, fmt.Errorf("%w: it has %d tokens, fewer than a chunk of %d", ErrShort, len(tokens), size)
	}
	s, err := newScorer(m.network, size)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	bos, ok := m.tokenizer.BOS()
	chunks, ok := len(tokens)/size, ok && tokens[0] == bos
	var all moments
	for i := range chunks {
		chunk := tokens[i*size : (i+1)*size]
		if ok {
			chunk[0] = bos
		}
		if err := s.score(ctx, chunk, &all); err != nil {
			return p, err
		}
		p = Perplexity{i + 1, size, all.n, all.mean, all.variance()}
		if o.Progress != nil {
			o.Progress(p, chunks)
		}
	}
	return p, nil
}

// moments are the mean of numbers, and the sum of the squares of their distances from it, by the algorithm of Welford.
type moments struct {
	n             int
	mean, squares float64
}

func (m *moments) add(x float64) {
	m.n++
	d := x - m.mean
	m.mean += d / float64(m.n)
	m.squares += d * (x - m.mean)
}

func (m *moments) variance() float64 { return m.squares / float64(m.n) }

// scorer computes likelihoods on a stream of its own, with a cache for a chunk.
type scorer struct {
	model  *llama.Model
	stream *device.Stream
	cache  *llama.Cache
}

func newScorer(n network, tokens int) (*scorer, error) {
	stream, err := n.stream.Device().NewStream()
	if err != nil {
		return nil, err
	}
	s := &scorer{model: n.model, stream: stream}
	if s.cache, err = n.model.NewCache(stream, llama.CacheOptions{Sequences: 1, Tokens: tokens, DType: n.cache.DType()}); err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	return s, nil
}

func (s *scorer) close() error { return errors.Join(s.cache.Close(), s.stream.Close()) }

// scored is the number of tokens whose scores are computed at once: there are as many numbers for each as the vocabulary has tokens.
const scored = 128

// score adds the negative log-likelihoods of the tokens of the second half of a chunk.
func (s *scorer) score(ctx context.Context, chunk []int32, to *moments) error {
	s.cache.Truncate(0, 0)
	half := len(chunk) / 2
	for from := 0; from < half; from += scored {
		err := tensor.RunOn(ctx, s.stream, func(scope *tensor.Scope) error {
			_, err := s.model.Forward(scope, s.cache, llama.Span{Tokens: chunk[from:min(from+scored, half)]})
			return err
		})
		if err != nil {
			return err
		}
	}
	for from := half; from < len(chunk)-1; from += scored {
		end := min(from+scored, len(chunk)-1)
		if err := s.likelihoods(ctx, chunk[from:end], chunk[from+1:end+1], to); err != nil {
			return err
		}
	}
	return nil
}

// likelihoods appends tokens to the cache and adds the negative log-likelihoods of those that follow them.
func (s *scorer) likelihoods(ctx context.Context, tokens, next []int32, to *moments) error {
	return tensor.RunOn(ctx, s.stream, func(scope *tensor.Scope) error {
		x, err := s.model.Forward(scope, s.cache, llama.Span{Tokens: tokens})
		if err != nil {
			return err
		}
		logs, err := tensor.Values[float32](ctx, s.model.Logits(x).LogSoftmax(-1).Gather(-1, tensor.From(scope, next, len(next), 1)))
		if err != nil {
			return err
		}
		for _, v := range logs {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return ErrLogits
			}
			to.add(-float64(v))
		}
		return nil
	})
}
