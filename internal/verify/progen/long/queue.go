package main

import "sync"

// queue has the spans that are to be done, for several workers.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	spans   []span
	taken   int // and not done
}

// newQueue cuts what is missing into batches.
func newQueue(missing []span, batch int) *queue {
	q := &queue{}
	q.changed.L = &q.mu
	for _, s := range missing {
		for from := s.From; from < s.To; from += batch {
			q.spans = append(q.spans, span{from, min(from+batch, s.To)})
		}
	}
	return q
}

// next takes a span. Where there is none, it waits for the workers that may yet bring some, and reports
// false when there are none either.
func (q *queue) next() (s span, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.spans) == 0 && q.taken > 0 {
		q.changed.Wait()
	}
	if len(q.spans) == 0 {
		return s, false
	}
	s, q.spans = q.spans[0], q.spans[1:]
	q.taken++
	return s, true
}

// done gives a span back, as others that it was cut into.
func (q *queue) done(pieces ...span) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
	q.spans = append(pieces, q.spans...)
	q.changed.Broadcast()
}

// drop forgets what nobody has taken.
func (q *queue) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.spans = nil
	q.changed.Broadcast()
}
