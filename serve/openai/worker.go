package openai

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// work is how models of a kind compute items of requests, such as the tokens of texts.
type work[M, T, R any] struct {
	operation string // its name in traces
	field     string // of requests, which has the items
	does      string // in the names of metrics
	compute   func(ctx context.Context, m M, items []T) ([]R, error)
	tokens    func(item T) int
	most      func(m M) int // tokens of a batch
	probe     func(m M) T   // returns an item that tests the device
}

// worker is a model with the queue of its items.
type worker[M, T, R any] struct {
	work[M, T, R]
	name    string
	model   *repository.Model[M]
	options EmbedOptions
	metrics *workMetrics
	failing batch.Health
	also    func(batch.Report) // is called after each batch
	began   func() func(error) // is called when a request begins, and its result when the request ends

	mu     sync.Mutex
	queued *batch.Queue[T, R] // nil before the first request
	closed bool
}

// newWorker returns a worker of a model.
func newWorker[M, T, R any](name string, m *repository.Model[M], o EmbedOptions, w work[M, T, R]) *worker[M, T, R] {
	e := &worker[M, T, R]{work: w, name: name, model: m, options: o, metrics: newWorkMetrics(name, w.does), also: func(batch.Report) {}}
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
func (e *worker[M, T, R]) queue(m M) (*batch.Queue[T, R], error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, batch.ErrClosed
	}
	var err error
	if e.queued == nil {
		e.queued, err = batch.New(batch.Options[T, R]{
			Run: e.run, Size: e.tokens, Most: max(e.most(m), 1), Queue: cmp.Or(e.options.Texts, 4096), Delay: e.options.Delay, Observe: e.observe,
			Computed: gate.DescribeBatch,
		})
	}
	return e.queued, err
}

// run computes a batch. A model that has been unloaded since the items were accepted is loaded again.
func (e *worker[M, T, R]) run(ctx context.Context, items []T) ([]R, error) {
	m, release, err := e.model.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return e.compute(ctx, m, items)
}

// close closes the queue.
func (e *worker[M, T, R]) close() {
	e.mu.Lock()
	q := e.queued
	e.closed = true
	e.mu.Unlock()
	if q != nil {
		q.Close()
	}
}

// measured returns the metrics.
func (e *worker[M, T, R]) measured() *workMetrics { return e.metrics }

// waiting returns the number of items that wait.
func (e *worker[M, T, R]) waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.queued == nil {
		return 0
	}
	return e.queued.Stats().Waiting
}

// observe is called after each batch.
func (e *worker[M, T, R]) observe(r batch.Report) {
	e.metrics.observe(r)
	e.also(r)
	e.failing.Observe(r)
}

// health returns why nothing can be computed, or nil. A model that is not loaded is healthy.
func (e *worker[M, T, R]) health(ctx context.Context) error {
	return e.failing.Check(ctx, func() error {
		m, release, ok := e.model.Peek()
		if !ok {
			return nil
		}
		item := e.probe(m)
		q, err := e.queue(m)
		release()
		if err == nil {
			_, err = q.Do(ctx, item)
		}
		return err
	})
}

// answer returns the results of the items of a request, which the function encode returns, and the number of their tokens. It counts the
// request.
func (e *worker[M, T, R]) answer(ctx context.Context, encode func(m M) ([]T, error)) (list []R, tokens int, err error) {
	e.metrics.requests.Inc()
	began := time.Now()
	list, tokens, err = e.results(ctx, encode)
	e.metrics.end(began, len(list), err)
	return list, tokens, err
}

// results is answer, without counting.
func (e *worker[M, T, R]) results(ctx context.Context, encode func(m M) ([]T, error)) (list []R, tokens int, err error) {
	items, q, err := e.encode(ctx, encode)
	if err != nil {
		return nil, 0, err
	}
	e.metrics.texts.Add(float64(len(items)))
	for _, x := range items {
		tokens += e.tokens(x)
	}
	gate.DescribeEncoder(ctx, e.name, e.operation, tokens)
	list, err = q.Do(ctx, items...)
	if errors.Is(err, batch.ErrTooMany) {
		err = gate.Invalid(e.field, "%d texts, which are more than the server's queue holds", len(items))
	}
	return list, tokens, err
}

// encode returns the items of a request, and the queue for them. The model is loaded then, but may be unloaded afterwards: the batch uses
// it itself.
func (e *worker[M, T, R]) encode(ctx context.Context, encode func(m M) ([]T, error)) ([]T, *batch.Queue[T, R], error) {
	m, release, err := e.model.Use(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	began := time.Now()
	items, err := encode(m)
	if err != nil {
		return nil, nil, err
	}
	gate.EndTurn(ctx)
	lengths := make([]int, len(items))
	for i, x := range items {
		lengths[i] = e.tokens(x)
	}
	e.metrics.tokenized(lengths, time.Since(began))
	q, err := e.queue(m)
	return items, q, err
}

// prioritized returns a context for a request with a priority.
func prioritized(ctx context.Context, priority *int) (context.Context, error) {
	var n int
	if err := gate.Set(&n, "priority", priority, gate.Between(-1<<31, 1<<31-1)); err != nil {
		return nil, err
	}
	return batch.WithPriority(ctx, n), nil
}
