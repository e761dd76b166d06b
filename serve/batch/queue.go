package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Errors of Do and New.
var (
	ErrFull    = errors.New("batch: the queue is full")
	ErrTooMany = errors.New("batch: more items in a call than the queue holds")
	ErrClosed  = errors.New("batch: the queue is closed")
	ErrResults = errors.New("batch: Run returned a number of results that differs from the number of items")
	ErrOptions = errors.New("batch: invalid options")
)

// Options are the options of a Queue.
type Options[T, R any] struct {
	// Run computes a batch: it returns a result for each item. Its context ends when the contexts of all calls with items in the batch have
	// ended. If Run returns an error, the Queue calls Run again for the items of each call separately, and each call gets the error of its
	// own items.
	Run func(ctx context.Context, items []T) ([]R, error)
	// Size returns the size of an item, such as its number of tokens. If Size is nil, each item has size 1.
	Size func(item T) int
	// Most is the largest size of a batch. A batch with a single item may be larger.
	Most int
	// Queue is the number of items that may wait.
	Queue int
	// Delay is how long a batch that is not full waits for further items, counted from the arrival of its first item. If Delay is 0, a
	// batch begins as soon as the previous batch ends, with the items that have arrived in the meantime.
	Delay time.Duration
	// Observe is called, unless it is nil, after each batch. It must not call the Queue.
	Observe func(Report)
	// Computed, unless it is nil, is called after each batch, once for each call with items in the batch, with the context of that call. It
	// must not call the Queue.
	Computed func(ctx context.Context, t Times)
}

// Times describes the items of a call in a batch.
type Times struct {
	Arrived     time.Time // when the call began to wait
	Collected   time.Time // the later of Arrived and the end of the previous batch; from then until Began, the Queue waited for other items
	Began       time.Time // when Run was called
	Ended       time.Time // when Run had returned
	Items, Size int       // of the batch
	Err         error     // the error of Run
}

// Report describes a batch.
type Report struct {
	Items, Size int
	Waits       []time.Duration // the time that each item was in the queue
	Took        time.Duration   // the time that Run took
	Err         error           // the error of Run
}

// Queue is a queue of items. It may be used by several goroutines.
type Queue[T, R any] struct {
	options Options[T, R]
	changed chan struct{} // receives after a change of waiting or closed
	done    chan struct{} // is closed when the last batch has ended
	free    time.Time     // since when the goroutine that serves collects the items of a batch

	mu      sync.Mutex
	waiting []*item[T, R] // in order
	calls   uint64        // that have been accepted
	passed  int           // batches since one had the item that has waited longest
	running int
	closed  bool
}

// item is an item of a call.
type item[T, R any] struct {
	value   T
	size    int
	arrived time.Time
	call    *call[R]
	index   int // of its result
}

// order compares items: one with a smaller priority precedes another, and of two with the same priority the one that arrived first.
func order[T, R any](a, b *item[T, R]) int {
	return cmp.Or(cmp.Compare(a.call.priority, b.call.priority), arrival(a, b))
}

// arrival compares items by when their calls arrived.
func arrival[T, R any](a, b *item[T, R]) int { return cmp.Compare(a.call.number, b.call.number) }

// call is a call of Do.
type call[R any] struct {
	ctx      context.Context
	number   uint64 // in the order of arrival
	priority int

	results []R
	missing int // results
	err     error
	done    chan struct{} // is closed when no result is missing, or with err
}

// New returns a Queue. The error wraps ErrOptions.
func New[T, R any](o Options[T, R]) (*Queue[T, R], error) {
	if o.Run == nil || o.Most < 1 || o.Queue < 1 || o.Delay < 0 {
		return nil, fmt.Errorf("%w: a batch of %d, a queue of %d, a delay of %v", ErrOptions, o.Most, o.Queue, o.Delay)
	}
	if o.Size == nil {
		o.Size = func(T) int { return 1 }
	}
	q := &Queue[T, R]{options: o, changed: make(chan struct{}, 1), done: make(chan struct{})}
	go q.serve()
	return q, nil
}

// Close refuses further calls, waits until the calls in the queue are done, and ends the Queue's goroutine.
func (q *Queue[T, R]) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
	<-q.done
}

// signal wakes the goroutine that serves.
func (q *Queue[T, R]) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// Stats is the state of a Queue: the number of items that wait, and the number of items that are being computed.
type Stats struct{ Waiting, Running int }

// Stats returns the state of the Queue.
func (q *Queue[T, R]) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Stats{len(q.waiting), q.running}
}

// prioritizing is the key of a context's value: an int.
type prioritizing struct{}

// WithPriority returns a context for calls of Do with a priority. Calls with a smaller priority are computed first. Without WithPriority,
// the priority is 0.
func WithPriority(ctx context.Context, priority int) context.Context {
	return context.WithValue(ctx, prioritizing{}, priority)
}

// Do waits until all items are computed, and returns their results in the order of the items. If the queue has no room for all items, Do
// computes none and returns ErrFull. The other errors are ErrTooMany, ErrClosed, the error of ctx, and the error of Run.
func (q *Queue[T, R]) Do(ctx context.Context, items ...T) ([]R, error) {
	if err := ctx.Err(); err != nil || len(items) == 0 {
		return nil, err
	}
	priority, _ := ctx.Value(prioritizing{}).(int)
	c := &call[R]{ctx: ctx, priority: priority, results: make([]R, len(items)), missing: len(items), done: make(chan struct{})}
	if err := q.enqueue(c, items); err != nil {
		return nil, err
	}
	select {
	case <-c.done:
		return c.results, c.err
	case <-ctx.Done():
		q.leave(c)
		return nil, ctx.Err()
	}
}

// enqueue inserts the items of a call.
func (q *Queue[T, R]) enqueue(c *call[R], items []T) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return ErrClosed
	case len(items) > q.options.Queue:
		return fmt.Errorf("%w: %d, at most %d are allowed", ErrTooMany, len(items), q.options.Queue)
	case len(items) > q.options.Queue-len(q.waiting):
		return ErrFull
	}
	q.calls++
	c.number = q.calls
	now, list := time.Now(), make([]*item[T, R], len(items))
	for i, v := range items {
		list[i] = &item[T, R]{v, q.options.Size(v), now, c, i}
	}
	at, _ := slices.BinarySearchFunc(q.waiting, list[0], order)
	q.waiting = slices.Insert(q.waiting, at, list...)
	q.signal()
	return nil
}

// leave removes the waiting items of a call.
func (q *Queue[T, R]) leave(c *call[R]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(x *item[T, R]) bool { return x.call == c })
}
