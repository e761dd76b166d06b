package llm

import (
	"context"
	"sync"
	"time"
)

const (
	// unread is the number of tokens of a text that may wait for their reader before the reader counts as slow.
	unread = 128
	// slowAfter is how long a reader that is behind may take for one token.
	slowAfter = 30 * time.Second
)

// outbox holds the tokens of a request until their reader takes them. It has one writer and one reader. The context of the model limits its
// length.
type outbox struct {
	limit int           // events from which on the reader is slow
	more  chan struct{} // has an element if the reader has something to look for
	room  chan struct{} // has an element if the reader has taken something

	mu     sync.Mutex
	events []event
	first  int       // of events that have not been taken
	since  time.Time // when the reader last took an event, or could have begun to
	closed bool
}

// newOutbox returns an empty outbox for the tokens of n texts.
func newOutbox(n int) *outbox {
	return &outbox{limit: n * unread, more: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put appends an event and reports whether the reader keeps up at the time now.
func (o *outbox) put(e event, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.first == len(o.events) {
		o.events, o.first, o.since = o.events[:0], 0, now
	}
	o.events = append(o.events, e)
	wake(o.more)
	return !o.full() || now.Sub(o.since) <= slowAfter
}

// wait waits until the reader is not behind, or its context is done.
func (o *outbox) wait(ctx context.Context) {
	for o.behind() {
		select {
		case <-o.room:
		case <-ctx.Done():
			return
		}
	}
}

// behind reports whether the reader is as far behind as it may be.
func (o *outbox) behind() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.full()
}

func (o *outbox) full() bool { return len(o.events)-o.first >= o.limit }

// take removes the first event. Without one, it reports whether the outbox is closed.
func (o *outbox) take(now time.Time) (e event, ok, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.first == len(o.events) {
		return e, false, o.closed
	}
	e, o.events[o.first] = o.events[o.first], event{}
	o.first, o.since = o.first+1, now
	wake(o.room)
	return e, true, false
}

// close says that no event follows.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	wake(o.more)
}

// wake puts an element into a channel that has none.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
