package openai

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// embedder is an Embedder with its queue.
type embedder struct {
	name    string
	model   *repository.Model[Embedder]
	options EmbedOptions
	metrics *embedMetrics
	broken  atomic.Pointer[error] // that of the last batch, or nil
	also    func(batch.Report)    // is called after each batch
	began   func() func(error)    // is called when a request begins, and its result when the request ends

	mu     sync.Mutex
	queued *batch.Queue[[]int32, []float32] // nil before the first request
	closed bool
}

// newEmbedder returns an embedder of a model.
func newEmbedder(name string, m *repository.Model[Embedder], o EmbedOptions) *embedder {
	e := &embedder{name: name, model: m, options: o, metrics: newEmbedMetrics(name), also: func(batch.Report) {}}
	e.began = func() func(error) { return func(error) {} }
	if o.Began != nil {
		e.began = func() func(error) { return o.Began(name) }
	}
	if o.Observe != nil {
		e.also = func(r batch.Report) { o.Observe(name, r) }
	}
	return e
}

// queue returns the queue. Its largest batch is known when the model is loaded for the first time.
func (e *embedder) queue(m Embedder) (*batch.Queue[[]int32, []float32], error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, batch.ErrClosed
	}
	var err error
	if e.queued == nil {
		e.queued, err = batch.New(batch.Options[[]int32, []float32]{
			Run: e.compute, Size: func(tokens []int32) int { return len(tokens) },
			Most: max(m.BatchTokens(), 1), Queue: cmp.Or(e.options.Texts, 4096), Delay: e.options.Delay, Observe: e.observe,
			Computed: gate.DescribeBatch,
		})
	}
	return e.queued, err
}

// compute computes a batch. A model that has been unloaded since the texts were accepted is loaded again.
func (e *embedder) compute(ctx context.Context, texts [][]int32) ([][]float32, error) {
	m, release, err := e.model.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return m.EmbedTokens(ctx, texts...)
}

// close closes the queue.
func (e *embedder) close() {
	e.mu.Lock()
	q := e.queued
	e.closed = true
	e.mu.Unlock()
	if q != nil {
		q.Close()
	}
}

// waiting returns the number of texts that wait.
func (e *embedder) waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.queued == nil {
		return 0
	}
	return e.queued.Stats().Waiting
}

// observe is called after each batch.
func (e *embedder) observe(r batch.Report) {
	e.metrics.observe(r)
	e.also(r)
	if e.broken.Store(nil); r.Err != nil && !errors.Is(r.Err, context.Canceled) {
		e.broken.Store(&r.Err)
	}
}

// health returns why no vectors can be computed, or nil. After a batch that failed, it computes the vector of a text of its own, because a
// server that is not healthy may get no requests that would show that it works again. A model that is not loaded is healthy.
func (e *embedder) health(ctx context.Context) error {
	last := e.broken.Load()
	if last == nil {
		return nil
	}
	m, release, ok := e.model.Peek()
	if !ok {
		return nil
	}
	tokens, _ := m.Encode("a")
	q, err := e.queue(m)
	release()
	if err == nil {
		_, err = q.Do(ctx, tokens)
	}
	if errors.Is(err, batch.ErrFull) || ctx.Err() != nil {
		return *last
	}
	return err
}

// answer returns the vectors of a request and the number of tokens, and counts the request.
func (e *embedder) answer(ctx context.Context, body *embedRequest) (list [][]float32, tokens int, err error) {
	e.metrics.requests.Inc()
	began := time.Now()
	list, tokens, err = e.vectors(ctx, body)
	e.metrics.end(began, len(list), err)
	return list, tokens, err
}

// vectors returns the vectors of a request and the number of tokens.
func (e *embedder) vectors(ctx context.Context, body *embedRequest) (list [][]float32, tokens int, err error) {
	texts, q, err := e.encode(ctx, body)
	if err != nil {
		return nil, 0, err
	}
	e.metrics.texts.Add(float64(len(texts)))
	for _, text := range texts {
		tokens += len(text)
	}
	gate.DescribeVectors(ctx, e.name, tokens)
	list, err = q.Do(ctx, texts...)
	if errors.Is(err, batch.ErrTooMany) {
		err = gate.Invalid("input", "%d texts, which are more than the server's queue holds", len(texts))
	}
	return list, tokens, err
}

// encode returns the tokens of the texts of a request, and the queue for them. The model is loaded then, but may be unloaded afterwards:
// the batch uses it itself.
func (e *embedder) encode(ctx context.Context, body *embedRequest) ([][]int32, *batch.Queue[[]int32, []float32], error) {
	m, release, err := e.model.Use(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	if err := body.check(m); err != nil {
		return nil, nil, err
	}
	began := time.Now()
	texts, err := body.Input.encode(m)
	if err != nil {
		return nil, nil, err
	}
	gate.EndTurn(ctx)
	e.metrics.tokenized(texts, time.Since(began))
	q, err := e.queue(m)
	return texts, q, err
}

// Queued is an embedding model of a Handler, for use by other protocols. Texts of all protocols wait in the same queue,
// and count in the same metrics.
type Queued struct{ of *embedder }

// Queued returns the embedding model with the given name.
func (h *Handler) Queued(name string) Queued { return Queued{h.embedders[name]} }

// Embed returns the vectors of texts. The error may be a gate.Failure.
func (q Queued) Embed(ctx context.Context, texts ...string) ([][]float32, error) {
	var body embedRequest
	for _, text := range texts {
		body.Input = append(body.Input, embedInput{text: text})
	}
	list, _, err := q.of.answer(ctx, &body)
	return list, err
}

// Width returns the number of elements of a vector. It loads the model if it is not loaded.
func (q Queued) Width(ctx context.Context) (int, error) {
	m, release, err := q.of.model.Use(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	return m.Width(), nil
}

// Health returns nil if the model can compute vectors or is not loaded, and otherwise the error.
func (q Queued) Health(ctx context.Context) error { return q.of.health(ctx) }
