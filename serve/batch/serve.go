package batch

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// serve computes batches until the Queue is closed and empty.
func (q *Queue[T, R]) serve() {
	defer close(q.done)
	for {
		list, ok := q.next()
		if !ok {
			return
		}
		if len(list) > 0 {
			q.compute(list, q.free)
		}
	}
}

// next waits for a batch, which is empty if all items have left in the meantime. It reports false if there will be none.
func (q *Queue[T, R]) next() ([]*item[T, R], bool) {
	q.free = time.Now()
	for {
		q.mu.Lock()
		empty, closed := len(q.waiting) == 0, q.closed
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
		ready := q.closed || size >= q.options.Most || n < len(q.waiting) || n == 0
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

// fitting returns the number of waiting items that are the next batch, and their size.
func (q *Queue[T, R]) fitting() (n, size int) {
	for i, x := range q.waiting {
		if i > 0 && size+x.size > q.options.Most {
			return i, size
		}
		size += x.size
	}
	return len(q.waiting), size
}

// patience is the number of batches that may pass over the item that has waited longest. The next batch then ignores priorities, so every
// item is computed at some time, and calls with a smaller priority keep most of the device.
const patience = 15

// take removes the items of calls that have ended from the queue, and then the next batch.
func (q *Queue[T, R]) take() []*item[T, R] {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(x *item[T, R]) bool { return x.call.err != nil || x.call.ctx.Err() != nil })
	if len(q.waiting) == 0 {
		return nil
	}
	oldest := slices.MinFunc(q.waiting, arrival)
	if q.passed == patience {
		slices.SortStableFunc(q.waiting, arrival)
		defer func() { slices.SortStableFunc(q.waiting, order) }()
	}
	n, _ := q.fitting()
	list := append([]*item[T, R]{}, q.waiting[:n]...)
	q.waiting = append([]*item[T, R]{}, q.waiting[n:]...)
	if q.passed++; slices.Contains(list, oldest) {
		q.passed = 0
	}
	q.running = n
	return list
}

// compute computes a batch, whose items were collected since a time. If it fails, its calls are computed again, one after another, so that
// a call ends only with an error of its own.
func (q *Queue[T, R]) compute(list []*item[T, R], since time.Time) {
	results, err := q.run(list, since)
	if calls := callsOf(list); err != nil && len(calls) > 1 && !errors.Is(err, context.Canceled) {
		for _, part := range calls {
			q.compute(part, time.Now())
		}
		return
	}
	q.mu.Lock()
	q.running -= len(list)
	q.mu.Unlock()
	for i, x := range list {
		if err != nil {
			x.call.fail(err)
		} else {
			x.call.deliver(x.index, results[i])
		}
	}
}

// callsOf returns the items of each call in a batch, whose items are in the order of calls.
func callsOf[T, R any](list []*item[T, R]) (calls [][]*item[T, R]) {
	for i, x := range list {
		if i == 0 || x.call != list[i-1].call {
			calls = append(calls, nil)
		}
		last := len(calls) - 1
		calls[last] = append(calls[last], x)
	}
	return calls
}

// run computes items and reports it.
func (q *Queue[T, R]) run(list []*item[T, R], since time.Time) ([]R, error) {
	ctx, stop := whileAny(list)
	defer stop()
	began, r := time.Now(), Report{Items: len(list)}
	values := make([]T, len(list))
	for i, x := range list {
		values[i] = x.value
		r.Size += x.size
		r.Waits = append(r.Waits, began.Sub(x.arrived))
	}
	results, err := q.options.Run(ctx, values)
	if err == nil && len(results) != len(list) {
		err = ErrResults
	}
	r.Took, r.Err = time.Since(began), err
	if q.options.Observe != nil {
		q.options.Observe(r)
	}
	if q.options.Computed != nil {
		for _, part := range callsOf(list) {
			t := Times{Arrived: part[0].arrived, Collected: since, Began: began, Ended: began.Add(r.Took), Items: r.Items, Size: r.Size, Err: err}
			if since.Before(t.Arrived) {
				t.Collected = t.Arrived
			}
			q.options.Computed(part[0].call.ctx, t)
		}
	}
	return results, err
}

// whileAny returns a context that ends when those of all calls with items in list have ended.
func whileAny[T, R any](list []*item[T, R]) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := map[*call[R]]bool{}
	for _, x := range list {
		calls[x.call] = true
	}
	var left atomic.Int64
	left.Store(int64(len(calls)))
	stops := []func() bool{}
	for c := range calls {
		stops = append(stops, context.AfterFunc(c.ctx, func() {
			if left.Add(-1) == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// deliver stores a result. Only the goroutine that serves calls it.
func (c *call[R]) deliver(index int, result R) {
	if c.err != nil {
		return
	}
	c.results[index] = result
	if c.missing--; c.missing == 0 {
		close(c.done)
	}
}

// fail ends a call, some of whose items may still wait. Only the goroutine that serves calls it.
func (c *call[R]) fail(err error) {
	if c.err == nil {
		c.err = err
		close(c.done)
	}
}
