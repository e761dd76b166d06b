package batch

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// part is the items of a call that are in a batch: those from one index to another.
type part[T, R any] struct {
	*call[T, R]
	from, to int
}

// outcome is a computed batch.
type outcome[T, R any] struct {
	parts       []part[T, R]
	items, size int
	since       time.Time // when the Queue began to collect its items
	began       time.Time
	took        time.Duration
	results     []R
	err         error
	again       bool // whether its calls are computed again because it has failed
}

// serve computes batches until the Queue is closed and empty. It sends each of them to the goroutine that delivers them, so that a device
// computes the next batch in the meantime.
func (q *Queue[T, R]) serve(computed chan<- outcome[T, R]) {
	defer close(computed)
	for {
		free := time.Now()
		list, ok := q.next()
		if !ok {
			return
		}
		if len(list) > 0 {
			q.compute(list, free, computed)
		}
	}
}

// next waits for a batch, which is empty if all items have left in the meantime. It reports false if there will be none.
func (q *Queue[T, R]) next() ([]part[T, R], bool) {
	for {
		q.mu.Lock()
		empty, closed := q.items == 0, q.closed
		q.mu.Unlock()
		if !empty {
			break
		}
		if closed {
			return nil, false
		}
		<-q.changed
	}
	q.delay()
	return q.take(), true
}

// delay waits until a batch is full, or its first item has waited for long enough.
func (q *Queue[T, R]) delay() {
	if q.options.Delay == 0 {
		return
	}
	for {
		q.mu.Lock()
		n, size := q.fitting()
		ready := q.closed || size >= q.options.Most || n < q.items || n == 0
		var left time.Duration
		if !ready {
			left = q.options.Delay - time.Since(slices.MinFunc(q.waiting, arrival).arrived)
		}
		q.mu.Unlock()
		if ready || left <= 0 {
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-q.changed:
		}
		timer.Stop()
	}
}

// fitting returns the number of waiting items that are the next batch, and their size. q.mu is locked.
func (q *Queue[T, R]) fitting() (n, size int) {
	for _, c := range q.waiting {
		for _, s := range c.sizes[c.taken:] {
			if n > 0 && size+s > q.options.Most {
				return n, size
			}
			n, size = n+1, size+s
		}
	}
	return n, size
}

// patience is the number of batches that may pass over the item that has waited longest. The next batch then ignores priorities, so every
// item is computed at some time, and calls with a smaller priority keep most of the device.
const patience = 15

// take removes calls that have ended from the queue, and then the next batch.
func (q *Queue[T, R]) take() []part[T, R] {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(func(c *call[T, R]) bool { return c.ctx.Err() != nil })
	if q.items == 0 {
		return nil
	}
	oldest := slices.MinFunc(q.waiting, arrival)
	if q.passed == patience {
		slices.SortFunc(q.waiting, arrival)
		defer func() { slices.SortFunc(q.waiting, order) }()
	}
	n, _ := q.fitting()
	q.items, q.running = q.items-n, n
	var list []part[T, R]
	for _, c := range q.waiting {
		p := part[T, R]{c, c.taken, min(c.taken+n, len(c.items))}
		list, c.taken, n = append(list, p), p.to, n-(p.to-p.from)
		if n == 0 {
			break
		}
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(c *call[T, R]) bool { return c.taken == len(c.items) })
	if q.passed++; slices.ContainsFunc(list, func(p part[T, R]) bool { return p.call == oldest }) {
		q.passed = 0
	}
	return list
}

// compute computes a batch, whose items were collected since a time. If it fails, its calls are computed again, one after another, so that
// a call ends only with an error of its own.
func (q *Queue[T, R]) compute(list []part[T, R], since time.Time, computed chan<- outcome[T, R]) {
	b := q.run(list, since)
	b.again = b.err != nil && len(list) > 1 && !errors.Is(b.err, context.Canceled)
	if !b.again {
		q.end(b)
	}
	computed <- b
	if b.again {
		for i := range list {
			q.compute(list[i:i+1], time.Now(), computed)
		}
	}
}

// run computes items.
func (q *Queue[T, R]) run(list []part[T, R], since time.Time) outcome[T, R] {
	ctx, stop := whileAny(list)
	defer stop()
	b := outcome[T, R]{parts: list, since: since, began: time.Now()}
	var values []T
	for _, p := range list {
		values = append(values, p.items[p.from:p.to]...)
		for _, size := range p.sizes[p.from:p.to] {
			b.size += size
		}
	}
	b.items = len(values)
	b.results, b.err = q.options.Run(ctx, values)
	if b.err == nil && len(b.results) != b.items {
		b.err = ErrResults
	}
	b.took = time.Since(b.began)
	return b
}

// end counts the items of a batch as computed. If the batch has failed, its calls have, and their other items leave the queue.
func (q *Queue[T, R]) end(b outcome[T, R]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running -= b.items
	if b.err == nil {
		return
	}
	for _, p := range b.parts {
		p.err = b.err
	}
	q.drop(func(c *call[T, R]) bool { return c.err != nil })
}

// deliver reports the batches that serve has computed, and ends the calls that miss no more results.
func (q *Queue[T, R]) deliver(computed <-chan outcome[T, R]) {
	defer close(q.done)
	for b := range computed {
		q.report(b)
		if b.again {
			continue
		}
		q.mu.Lock()
		results := b.results
		for _, p := range b.parts {
			n := p.to - p.from
			switch {
			case b.err != nil:
				close(p.done)
			case p.err == nil: // a later batch may have failed already
				copy(p.results[p.from:p.to], results)
				if p.missing -= n; p.missing == 0 {
					close(p.done)
				}
			}
			results = results[min(n, len(results)):]
		}
		q.mu.Unlock()
	}
}

// report calls Observe and Computed for a batch.
func (q *Queue[T, R]) report(b outcome[T, R]) {
	if q.options.Observe != nil {
		r := Report{Items: b.items, Size: b.size, Took: b.took, Err: b.err}
		for _, p := range b.parts {
			r.Waits = append(r.Waits, slices.Repeat([]time.Duration{b.began.Sub(p.arrived)}, p.to-p.from)...)
		}
		q.options.Observe(r)
	}
	if q.options.Computed == nil {
		return
	}
	for _, p := range b.parts {
		t := Times{Arrived: p.arrived, Collected: b.since, Began: b.began, Ended: b.began.Add(b.took), Items: b.items, Size: b.size, Err: b.err}
		if b.since.Before(t.Arrived) {
			t.Collected = t.Arrived
		}
		q.options.Computed(p.ctx, t)
	}
}

// whileAny returns a context that ends when those of all calls with items in list have ended.
func whileAny[T, R any](list []part[T, R]) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var left atomic.Int64
	left.Store(int64(len(list)))
	stops := make([]func() bool, len(list))
	for i, p := range list {
		stops[i] = context.AfterFunc(p.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
