package llm

import (
	"errors"
	"fmt"
	"sync"
)

// ErrBusy is the error of a text beyond Options.WaitingTexts or Options.WaitingTokens.
var ErrBusy = errors.New("llm: too many texts wait")

// queue has the texts that wait for their first place. Any goroutine adds texts; the engine takes them.
type queue struct {
	mu            sync.Mutex
	arrived       []*sequence // that the engine has not seen
	texts, tokens int         // that wait, and the tokens of their prompts
	most          limits
	closed        bool
	signal        chan struct{} // has an element if there is something to see
}

// limits are those of a queue. 0 means no limit.
type limits struct{ texts, tokens int }

func newQueue(most limits) *queue { return &queue{most: most, signal: make(chan struct{}, 1)} }

// add adds the texts of a request, all or none. The error matches ErrBusy and ErrClosed.
func (q *queue) add(list []*sequence) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, tokens := len(list), 0
	for _, x := range list {
		tokens += x.prompt
	}
	if err := q.room(n, tokens); err != nil {
		return err
	}
	q.arrived = append(q.arrived, list...)
	q.texts, q.tokens = q.texts+n, q.tokens+tokens
	q.wake()
	return nil
}

// refuses returns the error that add would return for n texts even if their prompts had no tokens.
func (q *queue) refuses(n int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.room(n, 0)
}

// room returns an error if there is no room for n texts whose prompts have a number of tokens. The caller has the lock.
func (q *queue) room(n, tokens int) error {
	switch {
	case q.closed:
		return ErrClosed
	case q.most.texts > 0 && q.texts+n > q.most.texts:
		return fmt.Errorf("%w: %d, at most %d", ErrBusy, q.texts, q.most.texts)
	case q.most.tokens > 0 && q.tokens > 0 && q.tokens+tokens > q.most.tokens: // one that is alone may have as many as it likes
		return fmt.Errorf("%w: their prompts have %d tokens, at most %d", ErrBusy, q.tokens, q.most.tokens)
	}
	return nil
}

// wake makes the engine look. The caller has the lock.
func (q *queue) wake() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// take returns the texts that the engine has not seen, and reports whether the queue is closed.
func (q *queue) take() (list []*sequence, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list, q.arrived = q.arrived, nil
	return list, q.closed
}

// leave says that a text no longer waits for its first place.
func (q *queue) leave(x *sequence) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.texts--
	q.tokens -= x.prompt
}

// waiting returns the number of texts that wait for their first place.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.texts
}

// close refuses further texts.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

// isClosed reports whether the queue refuses texts.
func (q *queue) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}
