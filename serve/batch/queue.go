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
	// Run computes a batch: it returns a result for each item. Its context ends when the contexts of all calls with items in the batch have ended. If
	// Run returns an error, the Queue calls Run again for the items of each call separately.
	Run func(ctx context.Context, items []T) ([]R, error)
	// Size returns the size of an item, such as its number of tokens. If Size is nil, each item has size 1.
	Size func(item T) int
	// Most is the largest size of a batch. A batch with a single item may be larger.
	Most int
	// Queue is the number of items that may wait.
	Queue int
	// Delay is how long a batch that is not full waits for further items, counted from the arrival of its first item. If Delay is 0, a batch begins
	// as soon as the previous batch ends.
	Delay time.Duration
	// Observe is called, unless it is nil, after each batch, before the calls of Do return. The next batch may be running then. Observe must
	// not call the Queue.
	Observe func(Report)
	// Computed, unless it is nil, is called after each batch, once for each call with items in the batch, with the context of that call. It
	// must not call the Queue.
	Computed func(ctx context.Context, t Times)
}

// Times describes the computation of a call's items in a batch.
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
	done    chan struct{} // is closed when the last batch has been delivered

	mu      sync.Mutex
	waiting []*call[T, R] // calls with items that no batch has, in order
	items   int           // the number of these items
	calls   uint64        // that have been accepted
	passed  int           // batches since one had the item that has waited longest
	running int           // items
	closed  bool
}

// call is a call of Do.
type call[T, R any] struct {
	ctx      context.Context
	number   uint64 // in the order of arrival
	priority int
	arrived  time.Time
	items    []T
	sizes    []int
	taken    int // items that batches have taken

	results []R
	missing int // results
	err     error
	done    chan struct{} // is closed when no result is missing, or with err
}

// order compares calls: one with a smaller priority precedes another, and of two with the same priority the one that arrived first.
func order[T, R any](a, b *call[T, R]) int {
	return cmp.Or(cmp.Compare(a.priority, b.priority), arrival(a, b))
}

// arrival compares calls by when they arrived.
func arrival[T, R any](a, b *call[T, R]) int { return cmp.Compare(a.number, b.number) }

// New returns a Queue. The error wraps ErrOptions.
func New[T, R any](o Options[T, R]) (*Queue[T, R], error) {
	if o.Run == nil || o.Most < 1 || o.Queue < 1 || o.Delay < 0 {
		return nil, fmt.Errorf("%w: a batch of %d, a queue of %d, a delay of %v", ErrOptions, o.Most, o.Queue, o.Delay)
	}
	if o.Size == nil {
		o.Size = func(T) int { return 1 }
	}
	q := &Queue[T, R]{options: o, changed: make(chan struct{}, 1), done: make(chan struct{})}
	computed := make(chan outcome[T, R], 1)
	go q.serve(computed)
	go q.deliver(computed)
	return q, nil
}

// Close refuses further calls, waits until the calls in the queue are done, and ends the Queue's goroutines.
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
	return Stats{q.items, q.running}
}

// prioritizing is the key of a context's value: an int.
type prioritizing struct{}

// WithPriority returns a context for calls of Do with a priority. Calls with a smaller priority are computed first. Without WithPriority,
// the priority is 0.
func WithPriority(ctx context.Context, priority int) context.Context {
	return context.WithValue(ctx, prioritizing{}, priority)
}

// Do waits until all items are computed, and returns their results in the order of the items. If the queue has no room for all items, Do
// computes none and returns ErrFull. The other errors are ErrTooMany, ErrClosed, the error of ctx, the error of Run, and ErrResults.
func (q *Queue[T, R]) Do(ctx context.Context, items ...T) ([]R, error) {
	if err := ctx.Err(); err != nil || len(items) == 0 {
		return nil, err
	}
	priority, _ := ctx.Value(prioritizing{}).(int)
	c := &call[T, R]{ctx: ctx, priority: priority, items: items, results: make([]R, len(items)), missing: len(items), done: make(chan struct{})}
	for _, x := range items {
		c.sizes = append(c.sizes, q.options.Size(x))
	}
	if err := q.enqueue(c); err != nil {
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

// enqueue inserts a call.
func (q *Queue[T, R]) enqueue(c *call[T, R]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch n := len(c.items); {
	case q.closed:
		return ErrClosed
	case n > q.options.Queue:
		return fmt.Errorf("%w: %d, at most %d are allowed", ErrTooMany, n, q.options.Queue)
	case n > q.options.Queue-q.items:
		return ErrFull
	}
	q.calls++
	c.number, c.arrived = q.calls, time.Now()
	at, _ := slices.BinarySearchFunc(q.waiting, c, order)
	q.waiting = slices.Insert(q.waiting, at, c)
	q.items += len(c.items)
	q.signal()
	return nil
}

// leave removes a call with its waiting items.
func (q *Queue[T, R]) leave(c *call[T, R]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(func(x *call[T, R]) bool { return x == c })
}

// drop removes calls with their waiting items. q.mu is locked.
func (q *Queue[T, R]) drop(ended func(*call[T, R]) bool) {
	q.waiting = slices.DeleteFunc(q.waiting, func(c *call[T, R]) bool {
		if !ended(c) {
			return false
		}
		q.items -= len(c.items) - c.taken
		return true
	})
}
